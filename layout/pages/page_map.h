// A PageMap says which page holds a vertex. It is the region that a reader turns into its record
// mapping array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "base/types.h"
#include "layout/pages/slotted_geometry.h"

namespace farvec::layout {

/// Entry v is the page of vertex v, below 2^31: the top bit is free for a reader, which may keep
/// "resident, in slot ..." in the same 4 bytes (VeloANN section 3.2). Owns the region's bytes.
class PageMap {
 public:
  static constexpr std::uint32_t kResidentBit = 1u << 31;

  /// Takes over a region, header included, wherever it came from. Throws Error, naming `source`,
  /// when it is not the map of the geometry's number of vertices, or names a page beyond the
  /// geometry's.
  PageMap(HugeBuffer region, const SlottedGeometry& geometry, std::string_view source);

  std::size_t count() const { return count_; }
  std::uint32_t page_of(NodeId id) const { return entries()[id]; }
  /// The reader may change them.
  std::span<std::uint32_t> entries() {
    return {reinterpret_cast<std::uint32_t*>(region_.data() + kRegionHeaderBytes), count_};
  }
  std::span<const std::uint32_t> entries() const {
    return {reinterpret_cast<const std::uint32_t*>(region_.data() + kRegionHeaderBytes), count_};
  }

  static std::uint64_t payload_bytes(std::uint64_t count) { return count * sizeof(std::uint32_t); }

 private:
  HugeBuffer region_;
  std::size_t count_;
};

}  // namespace farvec::layout
