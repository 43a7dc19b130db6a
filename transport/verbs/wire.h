// Defines what the two ends of a reliable connection say to each other. Little-endian,
// docs/operate/rdma.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace farvec::transport {

inline constexpr std::uint32_t kVerbsMagic = 0x42565646;  // "FVVB"
inline constexpr std::uint16_t kVerbsVersion = 3;

/// A VerbsRole is the purpose of a client's connection.
enum class VerbsRole : std::uint16_t { reader = 0, writer = 1 };

/// A VerbsHello goes from client to node, in the private data of the connection request.
struct VerbsHello {
  std::uint32_t magic = kVerbsMagic;
  std::uint16_t version = kVerbsVersion;
  std::uint16_t max_reads = 0;  ///< outstanding reads that the client's device can have
  std::array<std::byte, 16> lease{};
  std::uint32_t path_mtu_bytes = 0;  ///< path MTU of the client's port
  VerbsRole role = VerbsRole::reader;
  std::uint16_t reserved = 0;
};
static_assert(sizeof(VerbsHello) == 32);
static_assert(offsetof(VerbsHello, lease) == 8);
static_assert(offsetof(VerbsHello, path_mtu_bytes) == 24);
static_assert(offsetof(VerbsHello, role) == 28);

/// A VerbsWelcome goes from node to client, in the private data of the acceptance, or of the
/// refusal with a status other than 0.
struct VerbsWelcome {
  std::uint32_t magic = kVerbsMagic;
  std::uint16_t version = kVerbsVersion;
  std::uint16_t max_reads = 0;  ///< outstanding reads that both devices can have
  std::uint32_t status = 0;     ///< a StatusCode
  std::uint32_t regions = 0;
  std::uint32_t path_mtu_bytes = 0;  ///< path MTU of the connection: the smaller one of both ports
  std::uint32_t reserved = 0;
};
static_assert(sizeof(VerbsWelcome) == 24);
static_assert(offsetof(VerbsWelcome, path_mtu_bytes) == 16);

/// A VerbsGrant goes from node to client, in the one message of the connection: an array of these,
/// in the order of regions.
struct VerbsGrant {
  std::uint64_t address = 0;  ///< address of the region's first byte, in the node's terms
  std::uint64_t bytes = 0;
  std::uint32_t key = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(VerbsGrant) == 24);

}  // namespace farvec::transport
