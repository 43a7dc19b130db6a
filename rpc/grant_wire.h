// Defines the exchange on a memory node's grant socket. Little-endian, docs/operate/memory-node.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace farvec::rpc {

inline constexpr std::uint32_t kGrantMagic = 0x52475646;  // "FVGR"
inline constexpr std::uint32_t kGrantVersion = 1;

/// A GrantRequest goes from client to node, once, right after connecting.
struct GrantRequest {
  std::uint32_t magic = kGrantMagic;
  std::uint32_t version = kGrantVersion;
  std::array<std::byte, 16> lease{};
};
static_assert(sizeof(GrantRequest) == 24);
static_assert(offsetof(GrantRequest, lease) == 8);

/// A GrantReply goes from node to client, with one descriptor per region in the order of the attach
/// response. The connection then stays open, silent, as long as node and lease live.
struct GrantReply {
  std::uint32_t magic = kGrantMagic;
  std::uint32_t version = kGrantVersion;
  std::uint32_t status = 0;  ///< a StatusCode; without descriptors unless 0
  std::uint32_t descriptors = 0;
};
static_assert(sizeof(GrantReply) == 16);
static_assert(offsetof(GrantReply, descriptors) == 12);

}  // namespace farvec::rpc
