// How a FabricEndpoint comes to be connected.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <thread>

#include "base/error.h"
#include "transport/fabric/fabric_endpoint.h"

namespace farvec::transport {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kConnectNap{200};

FabricQuery endpoint_query(const FabricOptions& options, const FabricGrant& grant) {
  if (grant.provider != options.provider) {
    throw Error("{} serves libfabric's provider '{}', not '{}'", options.peer, grant.provider,
                options.provider);
  }
  FabricQuery query;
  query.provider = options.provider;
  query.capabilities = FI_RMA | FI_READ;
  query.address_format = grant.address_format;
  query.peer = grant.address;
  return query;
}

}  // namespace

void FabricEndpoint::open() {
  port_.emplace(query_fabric(endpoint_query(options_, grant_)), false);
  const fi_info& info = port_->info();
  if (info.ep_attr->protocol != grant_.protocol) {
    throw Error(
        "{} speaks libfabric's protocol {} and provider {} of this machine {}: are the two "
        "libraries of different versions?",
        options_.peer, grant_.protocol, info.fabric_attr->prov_name, info.ep_attr->protocol);
  }
  if (fi_av_insert(&port_->peers(), grant_.address.data(), 1, &node_, 0, nullptr) != 1) {
    throw Error("libfabric's provider {} does not take the address that {} sent",
                info.fabric_attr->prov_name, options_.peer);
  }
  piece_bytes_ = std::min<std::uint64_t>(
      {info.ep_attr->max_msg_size, grant_.max_message_bytes, kMaxReadBytes});
  if (options_.piece_bytes != 0)
    piece_bytes_ = std::min<std::uint64_t>(piece_bytes_, options_.piece_bytes);
  in_order_ = (info.tx_attr->comp_order & FI_ORDER_STRICT) != 0;
  requests_.resize(std::min(info.tx_attr->size, kMaxRequests));
  for (std::uint32_t i = 0; i < requests_.size(); ++i) free_requests_.push_back(i);
  for (std::uint32_t i = 0; i < flights_.size(); ++i) free_flights_.push_back(i);
  description_ = fmt::format("fabric({}, {}, {} reads in {} requests)", info.fabric_attr->prov_name,
                             options_.peer, options_.max_outstanding, requests_.size());
}

/// libfabric connects when it is asked for the first transfer.
void FabricEndpoint::connect(Clock::time_point end) {
  alignas(64) std::array<std::byte, sizeof(FabricWelcome)> bytes{};
  register_memory(bytes);
  ReadRequest read;
  read.bytes = sizeof(bytes);
  read.destination = bytes.data();
  take_off(read, {grant_.welcome_address, sizeof(bytes), grant_.welcome_key});
  start_pieces();
  Completion done;
  while (poll({&done, 1}) == 0) {
    if (Clock::now() > end) {
      release_port();  // before `bytes` ends
      throw Error(
          "connecting to {} with libfabric's provider {}: no answer in {} ms "
          "(FI_OFI_RXM_BUFFER_SIZE "
          "has to be the same at both ends)",
          options_.peer, options_.provider, options_.connect_timeout.count());
    }
    std::this_thread::sleep_for(kConnectNap);
  }
  registered_.clear();
  if (done.status != StatusCode::ok) {
    throw Error("connecting to {} with libfabric's provider {}: {} ({})", options_.peer,
                options_.provider, failure_.message(), failure_text_);
  }
  check_welcome(std::bit_cast<FabricWelcome>(bytes));
  connected_ = true;
}

void FabricEndpoint::check_welcome(const FabricWelcome& welcome) const {
  if (welcome.magic != kFabricMagic) throw Error("{} is not a farvec memory node", options_.peer);
  if (welcome.version != kFabricVersion) {
    throw Error("{} speaks version {} of the fabric welcome, this program {}", options_.peer,
                welcome.version, kFabricVersion);
  }
  if (welcome.lease != options_.lease || welcome.regions != grant_.regions.size()) {
    throw Error("{} refused: the endpoint serves another lease than this client's", options_.peer);
  }
}

void FabricEndpoint::register_memory(std::span<std::byte> memory) {
  FabricRegion region;
  if (port_ && port_->has_mode(FI_MR_LOCAL)) {
    int error = 0;
    region = port_->register_memory(memory, FI_READ, next_key_++, error);
    if (!region) {
      throw SystemError(-error,
                        "registering {} bytes with libfabric's provider {}: when this is ENOMEM, "
                        "raise the limit on locked memory (ulimit -l, LimitMEMLOCK= in a unit)",
                        memory.size(), options_.provider);
    }
  }
  registered_.add(memory, std::move(region));
}

}  // namespace farvec::transport
