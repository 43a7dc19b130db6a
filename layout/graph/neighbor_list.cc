#include "layout/graph/neighbor_list.h"

#include "layout/graph/list_kernel.h"

namespace farvec::layout {
namespace {

std::uint32_t bytes_of(NodeId difference) {
  return 1 + (difference > 0xff) + (difference > 0xffff) + (difference > 0xffffff);
}

constexpr std::size_t control_bytes(std::size_t degree) {
  return (degree + 3) / 4;
}

ListKernel best_kernel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("ssse3")) return decode_list_ssse3;
#endif
  return decode_list_portable;
}

}  // namespace

std::uint32_t list_bytes(std::span<const NodeId> sorted) {
  std::size_t bytes = control_bytes(sorted.size());
  NodeId before = 0;
  for (const NodeId id : sorted) {
    bytes += bytes_of(id - before);
    before = id;
  }
  return static_cast<std::uint32_t>(bytes);
}

void encode_list(std::span<const NodeId> sorted, std::byte* out) {
  std::byte* data = out + control_bytes(sorted.size());
  NodeId before = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const NodeId difference = sorted[i] - before;
    const std::uint32_t bytes = bytes_of(difference);
    const auto code = static_cast<std::byte>((bytes - 1) << (i % 4 * 2));
    std::byte& control = out[i / 4];
    control = i % 4 == 0 ? code : control | code;
    for (std::uint32_t b = 0; b < bytes; ++b) {
      *data++ = static_cast<std::byte>(difference >> (8 * b));
    }
    before = sorted[i];
  }
}

bool decode_list_portable(const EncodedList& list, NodeId* out) {
  const std::size_t controls = control_bytes(list.degree);
  if (controls > list.bytes) return false;
  const std::byte* data = list.begin + controls;
  const std::byte* const end = list.begin + list.bytes;
  NodeId id = 0;
  for (std::uint32_t i = 0; i < list.degree; ++i) {
    const auto control = std::to_integer<std::uint32_t>(list.begin[i / 4]);
    const std::uint32_t bytes = 1 + (control >> (i % 4 * 2) & 3);
    if (static_cast<std::size_t>(end - data) < bytes) return false;
    for (std::uint32_t b = 0; b < bytes; ++b) {
      id += std::to_integer<NodeId>(data[b]) << (8 * b);
    }
    data += bytes;
    out[i] = id;
  }
  const std::size_t missing = 4 * controls - list.degree;
  const bool clean =
      controls == 0 ||
      std::to_integer<std::uint32_t>(list.begin[controls - 1]) >> (8 - 2 * missing) == 0;
  return data == end && clean;
}

bool decode_list(const EncodedList& list, NodeId* out) {
  static const ListKernel kernel = best_kernel();
  return kernel(list, out);
}

}  // namespace farvec::layout
