// A SlottedStore is the pool that all cores of one configuration share, sized to a budget of
// memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>

#include "layout/pages/page_map.h"
#include "ssd_baseline/slotted/pool/page_pool.h"
#include "ssd_baseline/slotted/pool/pool_budget.h"
#include "ssd_baseline/slotted/pool/record_pool.h"
#include "ssd_baseline/slotted/search/slotted_codec.h"
#include "ssd_baseline/slotted/search/slotted_index.h"

namespace farvec::slotted {

/// best_first: one record a hop. beam: `width` records a hop, which is DiskANN's way. cache_aware:
/// one record a hop, chosen among the `width` nearest (VeloANN).
enum class SearchKind : std::uint8_t { best_first = 0, beam = 1, cache_aware = 2 };
/// none: every record is read for its search alone. record: the records that were asked for are
/// kept, and with each the affine records of its page (VeloANN). page: whole pages are kept.
/// single: only the records that were asked for are kept.
enum class PoolKind : std::uint8_t { none = 0, record = 1, page = 2, single = 3 };

/// These return "best-first", "beam" or "cache-aware"; "none", "record", "page" or "single".
std::string_view to_string(SearchKind kind);
std::string_view to_string(PoolKind kind);
/// These throw Error naming the accepted words.
SearchKind parse_search_kind(std::string_view text);
PoolKind parse_pool_kind(std::string_view text);

struct SlottedSearchOptions {
  SearchKind search = SearchKind::cache_aware;
  PoolKind pool = PoolKind::record;
  bool prefetch = true;
  /// Candidates that come in the page of another one are expanded with it.
  bool page_search = true;
  /// Most bytes that the searches keep in memory. Without a value it is what a pool of all records
  /// takes.
  std::optional<std::size_t> memory_budget = std::nullopt;
  /// What ranking by a second copy of the vectors takes of it.
  std::size_t second_bytes = 0;
  /// What this pool shares with those of other indexes, in place of `memory_budget`: maps, buffers,
  /// searches and pools. Codes are not part of it. Parts of one scheduler then read into the same
  /// buffers, and their searches run on the same stacks. Null: the pool is alone.
  std::shared_ptr<PoolBudget> shared_budget = nullptr;
  std::uint32_t cores = 1;
  std::uint32_t slots = 16;  ///< searches in flight on each core
  std::uint32_t list = 64;   ///< the largest that searches use
  std::uint32_t width = 4;   ///< the largest that searches use
  std::uint32_t k = 10;      ///< the largest that searches use
  /// This many results, ranked by their codes, are ranked again by their vectors; 0: none are.
  /// Otherwise it is from k to the list of every search.
  std::uint32_t rerank = 0;
  /// Each search ranks reranked() results again, and `rerank` at most.
  bool rerank_by_k = false;
};

/// Returns how many results of a search are ranked again when the user does not say: codes of
/// several bits hardly ever leave a true neighbour out of the first 2 * k results.
constexpr std::uint32_t reranked(std::uint32_t k, std::uint32_t list) {
  return std::min(2 * k, list);
}

/// A MemoryPlan counts bytes in DRAM, all cores together. The page cache is not part of any of
/// them.
struct MemoryPlan {
  std::size_t codes = 0;
  std::size_t entries = 0;   ///< the graph that finds where searches start
  std::size_t map = 0;       ///< the page or slot of every record
  std::size_t table = 0;     ///< in a page pool: the frame of every page
  std::size_t buffers = 0;   ///< the memory that pages and vectors are read into
  std::size_t searches = 0;  ///< stacks, candidate lists, prepared queries
  std::size_t second = 0;    ///< what ranking by a second copy of the vectors takes
  std::size_t pool = 0;
  std::size_t slots = 0;  ///< the number of slots in the pool
  /// The part of buffers and searches that cores have once for all indexes that share a budget.
  std::size_t cores = 0;

  std::size_t fixed() const { return codes + entries + map + table + buffers + searches + second; }
  /// Returns what one index more takes of a budget that indexes share, besides its pool.
  std::size_t own() const { return fixed() - codes - entries - cores - second; }
  std::size_t total() const { return fixed() + pool; }
};

using SlottedRecordPool = RecordPool<SlottedCodec>;
using SlottedPagePool = PagePool<SlottedCodec>;

/// The index must outlive it.
class SlottedStore {
 public:
  /// Takes the index's page map, which the pool changes. Throws Error where plan() does, and what
  /// PoolBudget::join() throws.
  SlottedStore(const SlottedIndex& index, layout::PageMap map, const SlottedSearchOptions& options);
  ~SlottedStore();
  SlottedStore(const SlottedStore&) = delete;
  SlottedStore& operator=(const SlottedStore&) = delete;

  /// Throws Error that names the least budget when the options need more than they may have, and
  /// when the index cannot rank in the way that they ask for. With a shared budget it plans a pool
  /// of all records, which is the most that the pool ever has.
  static MemoryPlan plan(const SlottedIndex& index, const SlottedSearchOptions& options);
  /// The number of pages that a core with these options may have under way.
  static std::uint32_t buffers_per_core(const SlottedSearchOptions& options);
  /// The number of buffers for pages that a core has for all its parts. It is buffers_per_core()
  /// unless indexes share a budget.
  static std::uint32_t page_buffers_per_core(const SlottedSearchOptions& options);
  /// The number of reads of vectors that it may have under way besides; 0 when nothing is ranked
  /// again.
  static std::uint32_t vector_reads_per_core(const SlottedSearchOptions& options);
  /// Returns the number of reads that a part may have under way.
  static std::uint32_t reads_per_core(const SlottedSearchOptions& options) {
    return buffers_per_core(options) + vector_reads_per_core(options);
  }

  const SlottedIndex& index() const { return index_; }
  const SlottedSearchOptions& options() const { return options_; }
  const MemoryPlan& memory() const { return memory_; }
  /// Returns the bytes that map, table and pool take now.
  std::size_t pool_bytes() const;
  /// A pool of kind none is a record pool without slots.
  std::variant<SlottedRecordPool, SlottedPagePool>& pool() { return *pool_; }

 private:
  const SlottedIndex& index_;
  const SlottedSearchOptions options_;
  const MemoryPlan memory_;
  std::optional<layout::PageMap> map_;
  std::unique_ptr<PoolBudget::Share> share_;  ///< null: the pool is alone
  std::unique_ptr<std::variant<SlottedRecordPool, SlottedPagePool>> pool_;
};

}  // namespace farvec::slotted
