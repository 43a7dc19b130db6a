#include "transport/verbs/local_device.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <infiniband/verbs.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "transport/verbs/handles.h"

namespace farvec::transport {
namespace {

constexpr std::size_t kMaxGids = 1024;  ///< GIDs that are looked at per device

struct LocalGid {
  std::string device;
  ibv_gid_entry entry{};
};

/// GIDs of RoCE are IPv6 addresses; IPv4 addresses are mapped into them.
bool is_ipv4(const LocalGid& gid) {
  return IN6_IS_ADDR_V4MAPPED(reinterpret_cast<const in6_addr*>(gid.entry.gid.raw));
}

std::string_view type_name(const LocalGid& gid) {
  switch (gid.entry.gid_type) {
    case IBV_GID_TYPE_IB:
      return "InfiniBand";
    case IBV_GID_TYPE_ROCE_V1:
      return "RoCE v1";
    case IBV_GID_TYPE_ROCE_V2:
      return "RoCE v2";
  }
  return "unknown";
}

std::vector<LocalGid> gids_of(ibv_device* device) {
  const DeviceContext context(ibv_open_device(device));
  if (!context) return {};
  std::vector<ibv_gid_entry> entries(kMaxGids);
  const ssize_t count = ibv_query_gid_table(context.get(), entries.data(), entries.size(), 0);
  std::vector<LocalGid> gids;
  for (ssize_t i = 0; i < count; ++i) {
    gids.push_back({ibv_get_device_name(device), entries[static_cast<std::size_t>(i)]});
  }
  return gids;
}

std::vector<LocalGid> local_gids() {
  int count = 0;
  ibv_device** const devices = ibv_get_device_list(&count);
  if (devices == nullptr) return {};
  std::vector<LocalGid> all;
  for (int i = 0; i < count; ++i) {
    const auto gids = gids_of(devices[i]);
    all.insert(all.end(), gids.begin(), gids.end());
  }
  ibv_free_device_list(devices);
  return all;
}

std::string list(const std::vector<LocalGid>& gids) {
  if (gids.empty()) return "none (see `rdma link`)";
  std::string text;
  for (const LocalGid& gid : gids) {
    char address[INET6_ADDRSTRLEN] = "";
    const std::uint8_t* raw = gid.entry.gid.raw;
    inet_ntop(is_ipv4(gid) ? AF_INET : AF_INET6, is_ipv4(gid) ? raw + 12 : raw, address,
              sizeof(address));
    text += fmt::format("{}{} gid {} ({}, {})", text.empty() ? "" : ", ", gid.device,
                        gid.entry.gid_index, address, type_name(gid));
  }
  return text;
}

bool is_wanted(const LocalGid& gid, const VerbsDevice& wanted, int family) {
  if (!wanted.name.empty() && gid.device != wanted.name) return false;
  if (gid.entry.gid_type != IBV_GID_TYPE_ROCE_V2) return false;
  if (wanted.gid_index) return gid.entry.gid_index == *wanted.gid_index;
  return is_ipv4(gid) == (family == AF_INET);
}

sockaddr_storage address_of(const LocalGid& gid) {
  sockaddr_storage storage{};
  if (is_ipv4(gid)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    std::memcpy(&address.sin_addr, gid.entry.gid.raw + 12, sizeof(address.sin_addr));
    std::memcpy(&storage, &address, sizeof(address));
  } else {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_scope_id = gid.entry.ndev_ifindex;  // matters for a link-local address
    std::memcpy(&address.sin6_addr, gid.entry.gid.raw, sizeof(address.sin6_addr));
    std::memcpy(&storage, &address, sizeof(address));
  }
  return storage;
}

}  // namespace

sockaddr_storage local_address(const VerbsDevice& wanted, int family) {
  const std::vector<LocalGid> gids = local_gids();
  const auto fits = [&](const LocalGid& gid) { return is_wanted(gid, wanted, family); };
  const auto found = std::find_if(gids.begin(), gids.end(), fits);
  const std::string index = wanted.gid_index ? std::to_string(*wanted.gid_index) : "any";
  if (found == gids.end()) {
    throw Error("no RDMA device '{}' with a GID {} of RoCE v2 here; there are: {}", wanted.name,
                index, list(gids));
  }
  const bool ambiguous = std::any_of(found + 1, gids.end(), [&](const LocalGid& gid) {
    return wanted.name.empty() && fits(gid) && gid.device != found->device;
  });
  if (ambiguous) {
    throw Error("several RDMA devices have a GID {}: choose one with device=; there are: {}", index,
                list(gids));
  }
  return address_of(*found);
}

}  // namespace farvec::transport
