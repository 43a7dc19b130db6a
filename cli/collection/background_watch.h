// Shows how far the background of a collection is, for commands that wait for it.
#pragma once

#include <functional>
#include <optional>

#include "base/progress.h"
#include "collection/build/build_watch.h"
#include "measure/ticker.h"

namespace farvec::cli {

/// Shows the segment that is being made, one after the other, as long as this object lives.
class BackgroundWatch {
 public:
  /// Another thread calls `look`, which must not throw. A result without rows means that nothing is
  /// being made.
  BackgroundWatch(std::function<collection::BuildProgress()> look, bool quiet);

 private:
  void show();

  const std::function<collection::BuildProgress()> look_;
  const bool quiet_;
  std::uint64_t rows_ = 0;   ///< rows of the segment that is shown
  std::uint64_t shown_ = 0;  ///< rows that were shown as done
  std::optional<Progress> progress_;
  measure::Ticker ticker_;
};

}  // namespace farvec::cli
