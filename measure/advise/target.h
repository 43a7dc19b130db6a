// Finds the cheapest search that reaches a recall.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace farvec::measure {

/// Names what is counted of a query.
enum Count : std::size_t {
  kHops,
  kReads,
  kBytes,
  kEstimates,
  kDistances,
  kClusters,
  kGroupReads,
  kListReads,
  kStrayReads,
  kCounts
};
using Counts = std::array<double, kCounts>;  ///< per query

struct Searched {
  double recall = 0;
  Counts counts{};
};

struct Reached {
  double parameter = 0;  ///< list or clusters to probe; between two whole numbers
  Counts counts{};       ///< counts at this parameter
};

/// Finds the least whole number from `least` to `most` at which `search` has the recall, by
/// doubling and halving: recall has to grow with the number, nearly always. The result is between
/// that number and the one before it, where a straight line between their recalls has the target,
/// so small numbers do not jump. Returns nothing when not even `most` has the recall. `search` is
/// called about 2 log2(result / least) times.
std::optional<Reached> reach(const std::function<Searched(std::uint32_t)>& search,
                             std::uint32_t least, std::uint32_t most, double recall);

}  // namespace farvec::measure
