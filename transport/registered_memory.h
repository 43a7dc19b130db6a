// RegisteredMemory holds the places where a device may put bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace farvec::transport {

/// Ranges with the handle that the device's library gave for each. They are few, so they are
/// searched in order.
template <typename Handle>
class RegisteredMemory {
 public:
  /// Forgets what it knew about these addresses. A caller that registers them anew has unmapped the
  /// memory that was there before, and the old handle still means that memory.
  void add(std::span<std::byte> memory, Handle handle) {
    std::erase_if(ranges_, [&](const Range& range) {
      return range.begin < memory.data() + memory.size() && memory.data() < range.end;
    });
    ranges_.push_back({memory.data(), memory.data() + memory.size(), std::move(handle)});
  }
  /// Returns the handle of the range that holds all of [begin, begin + bytes); nullptr when there
  /// is none.
  const Handle* find(const std::byte* begin, std::uint32_t bytes) const {
    for (const Range& range : ranges_) {
      if (begin >= range.begin && begin <= range.end &&
          bytes <= static_cast<std::size_t>(range.end - begin)) {
        return &range.handle;
      }
    }
    return nullptr;
  }
  void clear() { ranges_.clear(); }

 private:
  struct Range {
    std::byte* begin = nullptr;
    std::byte* end = nullptr;
    Handle handle;
  };
  std::vector<Range> ranges_;
};

}  // namespace farvec::transport
