// RecallStatistics count how many of their true neighbours a node's searches find, by how they were
// searched and how many rows met their conditions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string_view>

#include "search/core/search_core.h"

namespace farvec::compute_node {

/// How a search went about it.
enum class RecallPlan : std::uint8_t { walk, scan, both, clusters, fresh };
inline constexpr std::size_t kRecallPlans = 5;
/// Which share of the rows met its condition.
enum class RecallFilter : std::uint8_t { none, tenth, hundredth, thousandth, fewer };
inline constexpr std::size_t kRecallFilters = 5;

/// Returns "walk", "scan", "both" (of different segments), "clusters", or "fresh" where memtables
/// alone were searched.
std::string_view to_string(RecallPlan plan);
/// Returns "none", or the least share of rows that matched: "0.1", "0.01", "0.001", "0".
std::string_view to_string(RecallFilter filter);

RecallPlan plan_of(const search::QueryCounts& counts);
/// Returns the class of a search among `rows` rows, of which `matches` met its condition.
RecallFilter filter_of(std::uint64_t matches, std::uint64_t rows);

struct RecallCell {
  std::uint64_t samples = 0;  ///< searches
  std::uint64_t wanted = 0;   ///< true neighbours of these, k of each where there are as many
  std::uint64_t found = 0;    ///< those of `wanted` that the searches found
};

struct RecallSnapshot {
  /// [plan][filter]
  std::array<std::array<RecallCell, kRecallFilters>, kRecallPlans> cells{};
  RecallCell recent;  ///< the last searches, at most RecallStatistics::kRecent
  /// Searches that were drawn and not repeated: another one was under way, the node had no time,
  /// or the exact search failed.
  std::uint64_t skipped = 0;

  /// Calls visit(plan, filter, cell) for each cell that has samples.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t plan = 0; plan < kRecallPlans; ++plan) {
      for (std::size_t filter = 0; filter < kRecallFilters; ++filter) {
        const RecallCell& cell = cells[plan][filter];
        if (cell.samples == 0) continue;
        visit(static_cast<RecallPlan>(plan), static_cast<RecallFilter>(filter), cell);
      }
    }
  }

  std::uint64_t samples() const;
  /// Returns the recall of the recent ones; 1 where there are none.
  double recall() const;
};

/// Any thread may call them.
class RecallStatistics {
 public:
  static constexpr std::size_t kRecent = 100;

  void add(RecallPlan plan, RecallFilter filter, std::uint32_t wanted, std::uint32_t found);
  void skip();
  RecallSnapshot snapshot() const;

 private:
  mutable std::mutex mutex_;
  RecallSnapshot now_;
  std::deque<RecallCell> last_;
};

}  // namespace farvec::compute_node
