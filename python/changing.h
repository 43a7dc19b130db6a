// What a Python program changes and searches, wherever it is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/clock.h"
#include "base/progress.h"
#include "collection/write/collection.h"
#include "python/searcher.h"

namespace farvec::python {

/// Of a change.
struct Patience {
  Ticks until;
  Interruption interrupted = {};  ///< asked between two batches
};

inline Patience patience_of(double seconds, const Interruption& interrupted = {}) {
  return {now_ticks() + us_to_ticks(seconds * 1e6), interrupted};
}

/// do_some(first, count) for one batch after the other. Throws WorkInterrupted between two.
template <typename DoSome>
void in_batches(std::size_t count, std::size_t batch, const Interruption& interrupted,
                const DoSome& do_some) {
  for (std::size_t next = 0; next < count; next += batch) {
    if (interrupted && interrupted()) throw WorkInterrupted();
    do_some(next, std::min(batch, count - next));
  }
}

/// Any thread may call everything.
class Changing : public Searcher {
 public:
  virtual ElementType stored_type() const = 0;
  virtual std::uint64_t live() const = 0;

  /// Some thousand rows at a time, each time in as a whole. Throws StatusError and WorkInterrupted;
  /// what `receipt` counts is in.
  virtual void insert(const VectorView& rows, std::span<const std::uint64_t> ids,
                      const Patience& patience, collection::Receipt& receipt) = 0;
  virtual collection::Receipt erase(std::span<const std::uint64_t> ids,
                                    const Patience& patience) = 0;
  /// Throws StatusError and WorkInterrupted.
  virtual collection::FoundRows get(std::span<const std::uint64_t> ids,
                                    const Patience& patience) const = 0;
  /// Throw WorkInterrupted; the work goes on.
  virtual void flush(const Interruption& interrupted) = 0;
  virtual void compact(const Interruption& interrupted) = 0;

 protected:
  static void add(const collection::Receipt& some, collection::Receipt& all) {
    all.version = std::max(all.version, some.version);
    all.done += some.done;
    all.replaced += some.replaced;
    all.missing += some.missing;
  }
};

}  // namespace farvec::python
