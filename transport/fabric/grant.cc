#include "transport/fabric/grant.h"

#include <cstring>
#include <limits>

#include "base/error.h"
#include "transport/grant.h"

namespace farvec::transport {
namespace {

constexpr std::size_t kMaxAddressBytes = 1024;
constexpr std::size_t kMaxProviderBytes = 64;

std::size_t encoded_bytes(const FabricGrantHeader& header) {
  return sizeof(header) + header.regions * sizeof(FabricGrantRegion) + header.address_bytes +
         header.provider_bytes;
}

void check_header(const FabricGrantHeader& header, std::size_t bytes, const std::string& peer) {
  if (header.magic != kFabricMagic) throw Error("{} sent something else than a grant", peer);
  if (header.version != kFabricVersion) {
    throw Error("{} speaks version {} of the fabric grant, this program {}", peer, header.version,
                kFabricVersion);
  }
  if (header.regions == 0 || header.regions > kMaxGrantedRegions) {
    throw Error("{} grants {} regions: it must be from 1 to {}", peer, header.regions,
                kMaxGrantedRegions);
  }
  if (header.address_bytes == 0 || header.address_bytes > kMaxAddressBytes ||
      header.provider_bytes == 0 || header.provider_bytes > kMaxProviderBytes) {
    throw Error("{} sent a grant with {} bytes of address and {} of the provider's name", peer,
                header.address_bytes, header.provider_bytes);
  }
  if (header.max_message_bytes == 0) throw Error("{} answers reads of at most 0 bytes", peer);
  if (encoded_bytes(header) != bytes) {
    throw Error("{} sent a grant of {} bytes where its header says {}", peer, bytes,
                encoded_bytes(header));
  }
}

void check_region(const FabricGrantRegion& region, std::size_t id, const std::string& peer) {
  if (region.bytes == 0 ||
      region.bytes > std::numeric_limits<std::uint64_t>::max() - region.address) {
    throw Error("{} grants region {} with {} bytes at address {:#x}", peer, id, region.bytes,
                region.address);
  }
}

}  // namespace

std::string encode_grant(const FabricGrant& grant) {
  FabricGrantHeader header;
  header.regions = static_cast<std::uint16_t>(grant.regions.size());
  header.protocol = grant.protocol;
  header.address_format = grant.address_format;
  header.address_bytes = static_cast<std::uint16_t>(grant.address.size());
  header.provider_bytes = static_cast<std::uint16_t>(grant.provider.size());
  header.max_message_bytes = grant.max_message_bytes;
  header.welcome_address = grant.welcome_address;
  header.welcome_key = grant.welcome_key;
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  bytes.append(reinterpret_cast<const char*>(grant.regions.data()),
               grant.regions.size() * sizeof(FabricGrantRegion));
  bytes.append(reinterpret_cast<const char*>(grant.address.data()), grant.address.size());
  return bytes + grant.provider;
}

FabricGrant decode_grant(std::span<const std::byte> bytes, const std::string& peer) {
  FabricGrantHeader header;
  if (bytes.size() < sizeof(header)) throw Error("{} sent a grant of {} bytes", peer, bytes.size());
  std::memcpy(&header, bytes.data(), sizeof(header));
  check_header(header, bytes.size(), peer);
  FabricGrant grant;
  grant.protocol = header.protocol;
  grant.address_format = header.address_format;
  grant.max_message_bytes = header.max_message_bytes;
  grant.welcome_address = header.welcome_address;
  grant.welcome_key = header.welcome_key;
  bytes = bytes.subspan(sizeof(header));
  grant.regions.resize(header.regions);
  std::memcpy(grant.regions.data(), bytes.data(), header.regions * sizeof(FabricGrantRegion));
  for (std::size_t i = 0; i < grant.regions.size(); ++i) check_region(grant.regions[i], i, peer);
  bytes = bytes.subspan(header.regions * sizeof(FabricGrantRegion));
  grant.address.assign(bytes.begin(), bytes.begin() + header.address_bytes);
  bytes = bytes.subspan(header.address_bytes);
  grant.provider.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return grant;
}

}  // namespace farvec::transport
