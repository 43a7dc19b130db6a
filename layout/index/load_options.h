// LoadOptions say how bytes of an index are read from its folder into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace farvec::layout {

struct LoadOptions {
  unsigned threads = 0;  ///< 0: one per processor
  bool quiet = false;    ///< no progress line
  /// Called from any worker after each verified chunk with the number of its bytes. What it throws
  /// ends the load and passes through to the caller.
  std::function<void(std::uint64_t bytes)> on_chunk = {};
  /// Stores checked payload in its destination, for memory that is written by other stores than the
  /// kernel's. Called from any worker, for runs that do not overlap. When it is empty, files are
  /// read into the destination.
  std::function<void(std::byte* destination, std::span<const std::byte> bytes)> store = {};
};

}  // namespace farvec::layout
