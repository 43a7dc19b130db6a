// A SearchShape says what the cores of one process are made for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "layout/index/manifest.h"
#include "search/core/disk_options.h"
#include "search/core/search_core.h"
#include "ssd_baseline/slotted/search/slotted_store.h"

namespace farvec::search {

/// Says how many cores there are, how many searches each has in flight, and the largest search of
/// each kind. Memory is planned and allocated for it before the first search.
struct SearchShape {
  std::uint32_t cores = 1;
  std::uint32_t slots = 16;     ///< searches in flight on each core; 1 is synchronous
  std::size_t cache_bytes = 0;  ///< size of the record cache of each core
  std::uint32_t k = 10;         ///< largest k
  std::uint32_t list = 64;      ///< largest list of a search of a graph
  std::uint32_t width = 1;      ///< largest width of a search of a graph
  std::uint32_t probe = 16;     ///< most clusters that a search probes
  DiskChoice disk = {};         ///< how an index on a disk is searched
  /// What ranking by a second copy takes of disk.memory_budget, for all cores. Its tier sets it.
  std::size_t second_bytes = 0;
  /// What the pools of several indexes share, in place of disk.memory_budget. Null: each index has
  /// a budget of its own, or none.
  std::shared_ptr<slotted::PoolBudget> pools = nullptr;
  /// See SearchCoreOptions. Without a value it is what a request costs on the tier.
  std::optional<std::uint32_t> merge_gap_bytes = std::nullopt;
  std::shared_ptr<ProbeCounts> probe_counts = nullptr;
};

/// Makes the choice the largest search of its kind.
void set_largest(SearchShape& shape, const SearchChoice& choice);

/// Says how the slotted segments of a collection are searched, and that their pools share the
/// budget, where one was given. Throws Error for words that are none, and for a budget that is no
/// number of bytes.
void set_shared_pools(SearchShape& shape, const DiskArguments& arguments);

/// Returns a budget for what pools and their maps take: what searches keep beside these comes on
/// top.
std::shared_ptr<slotted::PoolBudget> pools_of_records(std::size_t bytes);

/// Goes on with dividing the budget that pools share, if they do (PoolBudget::settle()).
void settle_pools(const SearchShape& shape);

/// Returns the options for one core of a graph or of clusters.
SearchCoreOptions core_options(const SearchShape& shape);

/// Returns the options for slotted pages. When the choice leaves open how many results are ranked
/// again, resolve_rerank() says it for each search.
slotted::SlottedSearchOptions slotted_options(const SearchShape& shape,
                                              const layout::Manifest& manifest);

}  // namespace farvec::search
