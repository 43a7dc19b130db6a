// A FabricGrant is a libfabric grant as a struct; these functions turn it into bytes and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "transport/fabric/wire.h"

namespace farvec::transport {

struct FabricGrant {
  std::string provider;  ///< the name that the node was given: "tcp", "verbs;ofi_rxm"
  std::uint32_t protocol = 0;
  std::uint32_t address_format = 0;
  std::vector<std::byte> address;  ///< address of the node's endpoint
  std::uint64_t max_message_bytes = 0;
  std::uint64_t welcome_address = 0;
  std::uint64_t welcome_key = 0;
  std::vector<FabricGrantRegion> regions;  ///< in the order of region ids
};

std::string encode_grant(const FabricGrant& grant);

/// Throws Error naming `peer` when the bytes are not a grant of this version, or hold something
/// impossible: no region or too many, an empty region or one that ends beyond the address space, no
/// address, a length that does not fit.
FabricGrant decode_grant(std::span<const std::byte> bytes, const std::string& peer);

}  // namespace farvec::transport
