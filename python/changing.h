// A Changing is what a Python program changes and searches, on this machine or on a node.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/clock.h"
#include "changes/changing.h"
#include "python/searcher.h"

namespace farvec::python {

inline changes::Patience patience_of(double seconds, const Interruption& interrupted = {}) {
  return {now_ticks() + us_to_ticks(seconds * 1e6), interrupted};
}

/// Is searched and changed. Any thread may call everything.
class Changing : public Searcher {
 public:
  virtual changes::Changing& changes() = 0;
  virtual std::uint64_t live() const = 0;
  /// Inserts rows that check() accepts as one segment. Throws Error, also where it cannot; then
  /// none of them is in.
  virtual changes::Receipt import(const changes::RowBatch& batch,
                                  const Interruption& interrupted) = 0;
  /// Does the same with a copy of an index.
  virtual changes::Receipt import_index(const std::filesystem::path& index, std::uint64_t first_id,
                                        const Interruption& interrupted) = 0;
};

}  // namespace farvec::python
