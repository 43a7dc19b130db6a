#include "search/disk/slotted_core.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "disk/load_queue.h"
#include "graph/cache_aware_search.h"
#include "search/core/core_loop.h"
#include "search/core/searcher_part.h"
#include "search/searchers/graph_searcher.h"
#include "ssd_baseline/slotted/search/disk_pages.h"
#include "ssd_baseline/slotted/search/slotted_source.h"
#include "ssd_baseline/slotted/search/vector_reader.h"

namespace farvec::search {
namespace {

using slotted::SearchKind;
using slotted::SlottedIndex;
using slotted::SlottedStore;

/// Runs one slot's searches.
template <typename Pool>
class SlottedSearcher {
 public:
  /// `vectors` is nullptr when results are not ranked again.
  SlottedSearcher(const SlottedStore& store, slotted::SlottedSource<Pool> source,
                  slotted::VectorReader* vectors)
      : store_(store),
        bounds_{.vectors = store.index().count(),
                .list = store.options().list,
                .width = store.options().width},
        source_(std::move(source)),
        vectors_(vectors) {
    ids_.reserve(store.options().rerank);
  }

  Status search(SearchTask& task) {
    const SlottedIndex& index = store_.index();
    if (Status status = check(task.parameters); !status.ok()) return status;
    index.prepare(task.query, prepared_);
    source_.begin(task.deadline);
    const slotted::SearchStart start = slotted::find_start(index, prepared_, scratch_);
    Status status = run(task, start.view());
    task.counts.estimates += start.estimates;
    const slotted::PoolCounts counts = source_.counts();
    task.counts.reads = counts.reads;
    task.counts.bytes = counts.reads * index.geometry().page_bytes;
    task.counts.cache_hits = counts.hits;
    task.counts.pool_misses = counts.misses;
    if (status.ok() && vectors_ != nullptr) status = rank_again(task);
    if (status.ok()) copy_results(scratch_.results, task);
    return status;
  }

  std::size_t dram_bytes() const {
    return scratch_.dram_bytes() + ids_.capacity() * sizeof(NodeId);
  }

 private:
  Status check(const SearchParameters& search) const {
    if (Status status = search.check(bounds_); !status.ok()) return status;
    const std::uint32_t again = reranked(search);
    if (vectors_ != nullptr && (again < search.k() || again > search.graph().list)) {
      return {StatusCode::invalid_argument, "k and list must embrace the results to rank again"};
    }
    return {};
  }

  /// How many results of a search are ranked again.
  std::uint32_t reranked(const SearchParameters& search) const {
    const slotted::SlottedSearchOptions& planned = store_.options();
    if (!planned.rerank_by_k) return planned.rerank;
    return std::min(planned.rerank, slotted::reranked(search.k(), search.graph().list));
  }

  Status run(SearchTask& task, std::span<const NodeId> entries) {
    graph::BeamParameters parameters = beam_parameters(store_.index(), task);
    parameters.k = std::max(task.parameters.k(), reranked(task.parameters));
    Status status;
    do {
      status = run_once(parameters, entries);
      add_counts(scratch_.counts, task);
    } while (status.ok() && lengthen_list(parameters, scratch_.results.size()));
    return status;
  }

  Status run_once(graph::BeamParameters parameters, std::span<const NodeId> entries) {
    const slotted::SlottedScorer scorer{store_.index(), prepared_};
    const std::uint32_t width = parameters.width;
    switch (store_.options().search) {
      case SearchKind::cache_aware:
        return graph::cache_aware_search(source_, scorer, entries, parameters, scratch_);
      case SearchKind::best_first:
        parameters.width = 1;
        break;
      case SearchKind::beam:
        break;
    }
    if (store_.options().prefetch) {
      // Prefetches the records of this hop, which is about to wait for them, and of the next.
      parameters.prefetch = std::min(parameters.width + width, graph::kMaxWidth);
    }
    return graph::beam_search(source_, scorer, entries, parameters, scratch_);
  }

  /// Ranks results by their stored vectors; the k nearest of all results are left.
  Status rank_again(SearchTask& task) {
    graph::CandidateList& results = scratch_.results;
    ids_.clear();
    for (std::uint32_t i = 0; i < results.size(); ++i) ids_.push_back(results[i].id);
    std::sort(ids_.begin(), ids_.end());
    results.reset(task.parameters.k());
    slotted::VectorReads counts;
    const Status status =
        vectors_->read(ids_, task.deadline, counts, [&](NodeId id, const std::byte* vector) {
          results.insert(store_.index().distance(prepared_, vector), id);
          ++task.counts.distances;
        });
    task.counts.rerank_reads = counts.reads;
    task.counts.reads += counts.reads;
    task.counts.bytes += counts.bytes;
    return status;
  }

  const SlottedStore& store_;
  const SearchBounds bounds_;
  slotted::SlottedSource<Pool> source_;
  slotted::VectorReader* const vectors_;
  std::vector<NodeId> ids_;  ///< results that are ranked again
  graph::BeamScratch scratch_;
  slotted::PreparedQuery prepared_;
};

template <typename Pool>
class SlottedPart final : public SearcherPart<SlottedSearcher<Pool>> {
 public:
  SlottedPart(std::shared_ptr<SlottedStore> store, Pool& pool,
              std::unique_ptr<disk::DiskEngine> engine, coroutines::Scheduler& scheduler)
      : store_(std::move(store)),
        queue_(std::move(engine), scheduler,
               {.max_waiting = SlottedStore::reads_per_core(store_->options())}),
        disk_(queue_, {layout::kRegionHeaderBytes, geometry().page_bytes}, buffers()),
        reader_(pool, disk_, scheduler, store_->options().slots,
                {.buffers = buffers(), .page_bytes = geometry().page_bytes}) {
    disk_.set_sink(reader_.pages());
    queue_.engine().register_memory(reader_.pages().buffers());
    if (store_->options().rerank > 0) {
      vectors_.emplace(queue_, scheduler,
                       slotted::VectorFile{.vector_bytes = store_->index().vector_bytes()},
                       SlottedStore::vector_reads_per_core(store_->options()));
      queue_.engine().register_memory(vectors_->buffers());
    }
    for (std::uint32_t s = 0; s < store_->options().slots; ++s) {
      this->add_slot(std::make_unique<SlottedSearcher<Pool>>(
          *store_,
          slotted::SlottedSource<Pool>(geometry(), reader_, {s, store_->options().page_search}),
          vectors_ ? &*vectors_ : nullptr));
    }
  }
  /// Prefetches may be under way, and their pages belong to the reader.
  ~SlottedPart() override { queue_.close(); }

  bool poll() override { return queue_.poll(); }

  CoreStatistics statistics() const override {
    CoreStatistics result = SearcherPart<SlottedSearcher<Pool>>::statistics();
    const slotted::MemoryPlan& memory = store_->memory();
    result.in_flight_reads = reader_.pages().under_way();
    if (vectors_) {
      result.in_flight_reads += vectors_->under_way();
      result.dram_bytes += vectors_->dram_bytes();
    }
    result.dram_bytes +=
        reader_.dram_bytes() + (memory.map + memory.table + memory.pool) / store_->options().cores;
    return result;
  }

 private:
  std::uint32_t buffers() const { return SlottedStore::buffers_per_core(store_->options()); }
  const layout::SlottedGeometry& geometry() const { return store_->index().geometry(); }

  const std::shared_ptr<SlottedStore> store_;
  disk::LoadQueue queue_;
  slotted::DiskPages disk_;
  slotted::RecordReader<Pool> reader_;
  std::optional<slotted::VectorReader> vectors_;  ///< used when results are ranked again
};

}  // namespace

std::unique_ptr<CorePart> make_slotted_part(std::shared_ptr<SlottedStore> store,
                                            std::unique_ptr<disk::DiskEngine> engine,
                                            coroutines::Scheduler& scheduler) {
  return std::visit(
      [&]<typename Pool>(Pool& pool) -> std::unique_ptr<CorePart> {
        return std::make_unique<SlottedPart<Pool>>(store, pool, std::move(engine), scheduler);
      },
      store->pool());
}

std::unique_ptr<SearchCore> make_slotted_core(std::shared_ptr<SlottedStore> store,
                                              std::unique_ptr<disk::DiskEngine> engine) {
  const std::uint32_t slots = store->options().slots;
  return std::make_unique<CoreLoop>(CoreFibers{slots}, [&](coroutines::Scheduler& scheduler) {
    return make_slotted_part(std::move(store), std::move(engine), scheduler);
  });
}

}  // namespace farvec::search
