#include "compute_node/slotted_core.h"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>

#include "compute_node/core_loop.h"
#include "compute_node/graph_searcher.h"
#include "graph/cache_aware_search.h"
#include "ssd_baseline/io/load_queue.h"
#include "ssd_baseline/search/disk_pages.h"
#include "ssd_baseline/search/slotted_source.h"

namespace farvec::compute_node {
namespace {

using ssd_baseline::SearchKind;
using ssd_baseline::SlottedIndex;
using ssd_baseline::SlottedStore;

/// One slot's searches.
template <typename Pool>
class SlottedSearcher {
 public:
  SlottedSearcher(const SlottedStore& store, ssd_baseline::SlottedSource<Pool> source)
      : store_(store), source_(std::move(source)) {}

  Status search(SearchTask& task) {
    const SlottedIndex& index = store_.index();
    if (Status status = check_graph_task(index, store_.options().list, task); !status.ok()) {
      return status;
    }
    if (task.width > store_.options().width) {
      return {StatusCode::invalid_argument, "the width exceeds what memory was planned for"};
    }
    index.prepare(task.query, prepared_);
    source_.begin(task.deadline);
    const ssd_baseline::SearchStart start = ssd_baseline::find_start(index, prepared_, scratch_);
    const Status status = run(task, start.view());
    copy_counts(scratch_.counts, task);
    task.counts.estimates += start.estimates;
    const ssd_baseline::PoolCounts counts = source_.counts();
    task.counts.reads = counts.reads;
    task.counts.bytes = counts.reads * index.geometry().page_bytes;
    task.counts.cache_hits = counts.hits;
    task.counts.pool_misses = counts.misses;
    if (status.ok()) copy_results(scratch_.results, task);
    return status;
  }

  std::size_t dram_bytes() const { return scratch_.dram_bytes(); }

 private:
  Status run(const SearchTask& task, std::span<const NodeId> entries) {
    const ssd_baseline::SlottedScorer scorer{store_.index(), prepared_};
    graph::BeamParameters parameters = beam_parameters(store_.index(), task);
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
      // Those of this hop, which is about to wait for them, and of the next.
      parameters.prefetch = std::min(parameters.width + task.width, graph::kMaxWidth);
    }
    return graph::beam_search(source_, scorer, entries, parameters, scratch_);
  }

  const SlottedStore& store_;
  ssd_baseline::SlottedSource<Pool> source_;
  graph::BeamScratch scratch_;
  ssd_baseline::PreparedQuery prepared_;
};

SearchCoreOptions core_options(const SlottedStore& store) {
  SearchCoreOptions options;
  options.slots = store.options().slots;
  options.max_list = store.options().list;
  return options;
}

template <typename Pool>
class SlottedCore final : public CoreLoop<SlottedSearcher<Pool>> {
 public:
  SlottedCore(std::shared_ptr<SlottedStore> store, Pool& pool,
              std::unique_ptr<ssd_baseline::DiskEngine> engine)
      : CoreLoop<SlottedSearcher<Pool>>(core_options(*store)),
        store_(std::move(store)),
        queue_(std::move(engine), this->scheduler(), {.max_waiting = buffers()}),
        disk_(queue_, {layout::kRegionHeaderBytes, geometry().page_bytes}, buffers()),
        reader_(pool, disk_, this->scheduler(), store_->options().slots,
                {.buffers = buffers(), .page_bytes = geometry().page_bytes}) {
    disk_.set_sink(reader_.pages());
    queue_.engine().register_memory(reader_.pages().buffers());
    for (std::uint32_t s = 0; s < store_->options().slots; ++s) {
      this->add_slot(std::make_unique<SlottedSearcher<Pool>>(
          *store_, ssd_baseline::SlottedSource<Pool>(geometry(), reader_,
                                                     {s, store_->options().page_search})));
    }
    this->scheduler().set_poller([this] { return queue_.poll(); });
  }
  /// Prefetches may be under way: their pages belong to the reader.
  ~SlottedCore() override { queue_.close(); }

  CoreStatistics statistics() const override {
    CoreStatistics result = CoreLoop<SlottedSearcher<Pool>>::statistics();
    const ssd_baseline::MemoryPlan& memory = store_->memory();
    result.in_flight_reads = reader_.pages().under_way();
    result.dram_bytes +=
        reader_.dram_bytes() + (memory.map + memory.table + memory.pool) / store_->options().cores;
    return result;
  }

 private:
  std::uint32_t buffers() const { return SlottedStore::buffers_per_core(store_->options()); }
  const layout::SlottedGeometry& geometry() const { return store_->index().geometry(); }

  const std::shared_ptr<SlottedStore> store_;
  ssd_baseline::LoadQueue queue_;
  ssd_baseline::DiskPages disk_;
  ssd_baseline::RecordReader<Pool> reader_;
};

}  // namespace

std::unique_ptr<SearchCore> make_slotted_core(std::shared_ptr<SlottedStore> store,
                                              std::unique_ptr<ssd_baseline::DiskEngine> engine) {
  return std::visit(
      [&]<typename Pool>(Pool& pool) {
        return std::make_unique<SearchCore>(std::unique_ptr<SearchCore::Impl>(
            std::make_unique<SlottedCore<Pool>>(store, pool, std::move(engine))));
      },
      store->pool());
}

}  // namespace farvec::compute_node
