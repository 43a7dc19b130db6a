// Defines what a memory node tells a client about its libfabric endpoint. Little-endian,
// docs/operate/rdma.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace farvec::transport {

inline constexpr std::uint32_t kFabricMagic = 0x42465646;  // "FVFB"
inline constexpr std::uint16_t kFabricVersion = 1;

/// A FabricGrantHeader is the start of a grant, which the control plane carries. After it come
/// `regions` FabricGrantRegions, `address_bytes` bytes of the endpoint's address and
/// `provider_bytes` letters of the provider's name.
struct FabricGrantHeader {
  std::uint32_t magic = kFabricMagic;
  std::uint16_t version = kFabricVersion;
  std::uint16_t regions = 0;
  std::uint32_t protocol = 0;        ///< libfabric's number for the protocol of the endpoints
  std::uint32_t address_format = 0;  ///< libfabric's number
  std::uint16_t address_bytes = 0;
  std::uint16_t provider_bytes = 0;
  std::uint32_t reserved = 0;
  std::uint64_t max_message_bytes = 0;  ///< the most bytes of one read, on the node's side
  std::uint64_t welcome_address = 0;    ///< address of a FabricWelcome, in the node's terms
  std::uint64_t welcome_key = 0;
};
static_assert(sizeof(FabricGrantHeader) == 48);
static_assert(offsetof(FabricGrantHeader, address_bytes) == 16);
static_assert(offsetof(FabricGrantHeader, welcome_address) == 32);

struct FabricGrantRegion {
  std::uint64_t address = 0;  ///< address of the region's first byte, in the node's terms
  std::uint64_t bytes = 0;
  std::uint64_t key = 0;
};
static_assert(sizeof(FabricGrantRegion) == 24);

/// It is in the node's memory, one per grant. Each connection begins with a read of it, which
/// proves that the peer is a farvec node of this version that holds this lease.
struct FabricWelcome {
  std::uint32_t magic = kFabricMagic;
  std::uint16_t version = kFabricVersion;
  std::uint16_t regions = 0;
  std::uint64_t reserved = 0;
  std::array<std::byte, 16> lease{};
};
static_assert(sizeof(FabricWelcome) == 32);
static_assert(offsetof(FabricWelcome, lease) == 16);

}  // namespace farvec::transport
