#include "ssd_baseline/slotted/search/slotted_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "coroutines/stack_pool.h"
#include "graph/beam_scratch.h"
#include "ssd_baseline/slotted/search/vector_reader.h"

namespace farvec::slotted {
namespace {

constexpr std::array<std::pair<std::string_view, SearchKind>, 3> kSearches{
    {{"best-first", SearchKind::best_first},
     {"beam", SearchKind::beam},
     {"cache-aware", SearchKind::cache_aware}}};
constexpr std::array<std::pair<std::string_view, PoolKind>, 4> kPools{
    {{"none", PoolKind::none},
     {"record", PoolKind::record},
     {"page", PoolKind::page},
     {"single", PoolKind::single}}};

constexpr std::uint32_t kMostBuffers = 256;
/// This many keep a disk busy.
constexpr std::uint32_t kBusyReads = 128;
/// Indexes of a core that a search searches at once.
constexpr std::uint32_t kIndexesAtOnce = 8;
/// What the pool and the disk keep for a page or vector on its way.
constexpr std::size_t kBytesPerBuffer = 512;

template <typename Kind, std::size_t count>
std::string_view word_of(const std::array<std::pair<std::string_view, Kind>, count>& words,
                         Kind kind) {
  return words[static_cast<std::size_t>(kind)].first;
}

template <typename Kind, std::size_t count>
Kind parse(const std::array<std::pair<std::string_view, Kind>, count>& words, std::string_view text,
           const char* what) {
  for (const auto& [word, kind] : words) {
    if (text == word) return kind;
  }
  std::string known(words[0].first);
  for (std::size_t i = 1; i < count; ++i) {
    known += fmt::format("{}{}", i + 1 < count ? ", " : " or ", words[i].first);
  }
  throw Error("unknown {} '{}': use {}", what, text, known);
}

/// Returns the bytes that one search in flight needs.
std::size_t search_bytes(const SlottedIndex& index, const SlottedSearchOptions& options) {
  return graph::graph_search_bytes({options.list, options.width, index.max_degree(),
                                    static_cast<std::uint32_t>(index.count()), index.dimension(),
                                    std::max(options.k, options.rerank)},
                                   coroutines::kStackBytes) +
         (index.geometry().scratch_ids() + options.rerank) * sizeof(NodeId);
}

/// Returns the bytes of one core's buffers.
std::size_t buffer_bytes(const SlottedIndex& index, const SlottedSearchOptions& options) {
  const std::size_t pages = SlottedStore::page_buffers_per_core(options);
  const std::size_t vectors = SlottedStore::vector_reads_per_core(options);
  return pages * index.geometry().page_bytes +
         vectors * VectorReader::buffer_bytes(index.vector_bytes());
}

/// Returns what does not grow with the number of indexes that cores search at once: their buffers,
/// and one stack for each search in flight. A search may run in several fibers, one for each of
/// some indexes; these touch less than one stack together.
std::size_t core_bytes(const SlottedIndex& index, const SlottedSearchOptions& options) {
  return options.cores * (buffer_bytes(index, options) + options.slots * coroutines::kStackBytes);
}

void check_rerank(const SlottedIndex& index, const SlottedSearchOptions& options) {
  if (options.rerank == 0) return;
  if (index.geometry().payload == layout::PayloadKind::vector) {
    throw Error(
        "--rerank {}: the records of this index hold the vectors, by which results are ranked "
        "already: leave it out",
        options.rerank);
  }
  if (!index.has_vectors()) {
    throw Error(
        "--rerank {}: this index has no vectors beside its codes: build it with "
        "`farvec build graph --layout slotted --rerank on`",
        options.rerank);
  }
  if (options.rerank < options.k || options.rerank > options.list) {
    throw Error("--rerank {}: use {} (--k) to {} (--list), or 0 for none", options.rerank,
                options.k, options.list);
  }
}

void check_shared(const SlottedSearchOptions& options) {
  if (options.shared_budget == nullptr || options.pool != PoolKind::page) return;
  throw Error(
      "--pool page: a pool of pages keeps its size, and segments share one budget: use record, "
      "single or none");
}

std::size_t slot_bytes(const SlottedIndex& index, PoolKind kind) {
  return kind == PoolKind::page
             ? SlottedPagePool::frame_bytes(index.geometry().page_bytes)
             : SlottedRecordPool::slot_bytes(index.geometry().max_record_bytes());
}

std::size_t most_slots(const SlottedIndex& index, PoolKind kind) {
  if (kind == PoolKind::none) return 0;
  return kind == PoolKind::page ? index.geometry().pages : index.count();
}

}  // namespace

std::string_view to_string(SearchKind kind) {
  return word_of(kSearches, kind);
}
std::string_view to_string(PoolKind kind) {
  return word_of(kPools, kind);
}
SearchKind parse_search_kind(std::string_view text) {
  return parse(kSearches, text, "search");
}
PoolKind parse_pool_kind(std::string_view text) {
  return parse(kPools, text, "pool");
}

std::uint32_t SlottedStore::buffers_per_core(const SlottedSearchOptions& options) {
  // A search has one hop under way, and with prefetches another one.
  const std::uint32_t each = options.search == SearchKind::best_first && !options.prefetch
                                 ? 1
                                 : options.width * (options.prefetch ? 2 : 1);
  return std::clamp(options.slots * each, 4u, std::max(kMostBuffers, options.slots));
}

std::uint32_t SlottedStore::page_buffers_per_core(const SlottedSearchOptions& options) {
  const std::uint32_t each = buffers_per_core(options);
  if (options.shared_budget == nullptr) return each;
  return std::max(each, std::min(each * kIndexesAtOnce, kBusyReads));
}

std::uint32_t SlottedStore::vector_reads_per_core(const SlottedSearchOptions& options) {
  const std::uint64_t wanted = std::uint64_t{options.slots} * options.rerank;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, kBusyReads));
}

MemoryPlan SlottedStore::plan(const SlottedIndex& index, const SlottedSearchOptions& options) {
  check_rerank(index, options);
  check_shared(options);
  const layout::SlottedGeometry& geometry = index.geometry();
  MemoryPlan plan;
  plan.codes = index.code_bytes();
  plan.entries = index.entry_graph_bytes();
  plan.map = layout::kRegionHeaderBytes + layout::PageMap::payload_bytes(index.count());
  if (options.pool == PoolKind::page) plan.table = SlottedPagePool::table_bytes(geometry.pages);
  plan.buffers =
      options.cores * (buffer_bytes(index, options) + reads_per_core(options) * kBytesPerBuffer);
  plan.searches = std::size_t{options.cores} * options.slots * search_bytes(index, options);
  plan.second = options.second_bytes;
  plan.cores = core_bytes(index, options);
  const std::size_t each = slot_bytes(index, options.pool);
  plan.slots = most_slots(index, options.pool);
  if (options.memory_budget) {
    const std::size_t least = plan.fixed() + (plan.slots == 0 ? 0 : each);
    if (*options.memory_budget < least) {
      throw Error(
          "a memory budget of {} bytes is too small: {} are needed ({} for codes, {} for the map "
          "of records and entries, {} for buffers, {} for {} searches, {} for the second copy): "
          "use --memory-budget {} or fewer --slots",
          *options.memory_budget, least, plan.codes, plan.map + plan.table + plan.entries,
          plan.buffers, plan.searches, std::size_t{options.cores} * options.slots, plan.second,
          least);
    }
    plan.slots = std::min(plan.slots, (*options.memory_budget - plan.fixed()) / each);
  }
  plan.pool = plan.slots * each;
  return plan;
}

SlottedStore::SlottedStore(const SlottedIndex& index, layout::PageMap map,
                           const SlottedSearchOptions& options)
    : index_(index), options_(options), memory_(plan(index, options)), map_(std::move(map)) {
  using Pool = std::variant<SlottedRecordPool, SlottedPagePool>;
  const layout::SlottedGeometry& geometry = index.geometry();
  const SlottedCodec codec(geometry);
  if (options.pool == PoolKind::page) {
    pool_ = std::make_unique<Pool>(
        std::in_place_type<SlottedPagePool>, codec, std::as_const(*map_).entries(),
        SlottedPagePool::Options{memory_.slots, geometry.page_bytes, geometry.pages});
  } else {
    pool_ = std::make_unique<Pool>(
        std::in_place_type<SlottedRecordPool>, codec, map_->entries(),
        SlottedRecordPool::Options{memory_.slots, geometry.max_record_bytes(),
                                   options.pool != PoolKind::single,
                                   options.shared_budget != nullptr});
  }
  if (options.shared_budget == nullptr) return;
  const bool with_searches = options.shared_budget->counts() == PoolBudget::Counts::searches_too;
  share_ = options.shared_budget->join({.core_bytes = with_searches ? memory_.cores : 0,
                                        .fixed_bytes = with_searches ? memory_.own() : memory_.map,
                                        .slot_bytes = slot_bytes(index, options.pool),
                                        .most_slots = memory_.slots,
                                        .weight = index.region_bytes()},
                                       [pool = &std::get<SlottedRecordPool>(*pool_)](
                                           std::size_t slots) { return pool->resize(slots); });
}

/// Other pools get the memory once it is free.
SlottedStore::~SlottedStore() {
  if (share_ != nullptr) share_->detach();
  pool_.reset();
  map_.reset();
  share_.reset();
}

std::size_t SlottedStore::pool_bytes() const {
  return memory_.map + std::visit([](const auto& pool) { return pool.dram_bytes(); }, *pool_);
}

}  // namespace farvec::slotted
