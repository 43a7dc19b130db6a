// Encodes neighbour ids in few bytes: sorted, as differences, in the StreamVByte format. Source:
// Lemire, Kurz, Rupp, "Stream VByte" (IPL 2018); our own code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/types.h"

namespace farvec::layout {

/// Returns the bytes of the longest list of `degree` ids.
constexpr std::uint32_t max_list_bytes(std::uint32_t degree) {
  return (degree + 3) / 4 + degree * static_cast<std::uint32_t>(sizeof(NodeId));
}

/// Returns the bytes of the list of `sorted` ids (ascending; the same id may occur twice).
std::uint32_t list_bytes(std::span<const NodeId> sorted);

/// Writes list_bytes(sorted) bytes.
void encode_list(std::span<const NodeId> sorted, std::byte* out);

/// An EncodedList is an encoded list in fetched bytes. `bytes` is the length of the list;
/// `readable` bytes from its start on may be read.
struct EncodedList {
  const std::byte* begin = nullptr;
  std::uint32_t bytes = 0;
  std::uint32_t readable = 0;  ///< >= bytes
  std::uint32_t degree = 0;
};

/// Writes `degree` ids to out, which has room for `degree` rounded up to four. False when the list
/// does not take exactly list.bytes. Ids are whatever the bytes say.
bool decode_list(const EncodedList& list, NodeId* out);

/// Does the same without vector instructions: the oracle for tests, and the code for other
/// processors.
bool decode_list_portable(const EncodedList& list, NodeId* out);

}  // namespace farvec::layout
