// This header adds --within to the commands that search.
#pragma once

#include <limits>

#include "base/command_line.h"

namespace farvec::cli {

inline constexpr const char* kNoTruthWithin =
    "--groundtruth: it has the nearest rows of each query, however far, and is not for --within. "
    "--exact --within finds all rows within a distance";

inline void add_within_option(Command& command, float& within) {
  constexpr float kFarthest = std::numeric_limits<float>::max();
  command
      .add_option("--within", within,
                  "Find the rows that are no farther than this distance, as results have it (l2:\n"
                  "squared, ip: minus the product), --k of them at most [then --k 1000]")
      .range(-kFarthest, kFarthest);
}

}  // namespace farvec::cli
