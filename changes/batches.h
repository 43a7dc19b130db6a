// These functions change many rows or ids of an index, batch after batch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>

#include "changes/changing.h"

namespace farvec::changes {

/// Says how batches follow each other.
struct Batches {
  /// All batches together end by patience.until.
  Patience patience = {};
  double batch_us = std::numeric_limits<double>::infinity();  ///< time for each batch
  /// Is told how many rows or ids each batch had that is done.
  std::function<void(std::uint64_t)> advanced = {};
};

/// Calls change(first, count, patience) for one batch after another, each of at most `most`. Throws
/// WorkInterrupted between two batches.
template <typename Change>
void in_batches(std::size_t count, std::size_t most, const Batches& batches, const Change& change) {
  for (std::size_t next = 0; next < count; next += most) {
    if (asked_to_end(batches.patience.interrupted)) throw WorkInterrupted();
    Patience patience = batches.patience;
    if (batches.batch_us < std::numeric_limits<double>::infinity()) {
      patience.until = std::min(patience.until, now_ticks() + us_to_ticks(batches.batch_us));
    }
    const std::size_t part = std::min(most, count - next);
    change(next, part, patience);
    if (batches.advanced) batches.advanced(part);
  }
}

/// Inserts rows, all of which check() has accepted. `receipt` counts what is in, also when this
/// throws.
void insert_all(Changing& index, const RowBatch& rows, const Batches& batches, Receipt& receipt);
void erase_all(Changing& index, std::span<const std::uint64_t> ids, const Batches& batches,
               Receipt& receipt);
/// Gets rows by their ids, call after call. The rows of one call are of one moment; the version is
/// the last one's.
FoundRows get_all(const Changing& index, std::span<const std::uint64_t> ids,
                  const Batches& batches);

}  // namespace farvec::changes
