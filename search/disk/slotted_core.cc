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
#include "search/disk/disk_records.h"
#include "search/searchers/graph_searcher.h"
#include "search/searchers/row_scan.h"
#include "ssd_baseline/slotted/search/disk_pages.h"
#include "ssd_baseline/slotted/search/slotted_source.h"
#include "ssd_baseline/slotted/search/vector_reader.h"

namespace farvec::search {
namespace {

using slotted::SearchKind;
using slotted::SlottedIndex;
using slotted::SlottedStore;

constexpr Status kNoVectors{StatusCode::invalid_argument,
                            "the pages have codes and no vectors, so that no search is exact: rank "
                            "results again by vectors (--rerank)"};

void count_vectors(const slotted::VectorReads& reads, QueryCounts& counts) {
  counts.rerank_reads += reads.reads;
  counts.reads += reads.reads;
  counts.bytes += reads.bytes;
}

/// A StoredVectorSource brings a scan the vectors that lie beside the pages: its records have
/// nothing else. Lives on the stack of one search. Borrows.
template <typename Pool>
class StoredVectorSource {
 public:
  StoredVectorSource(slotted::VectorReader& vectors, slotted::SlottedSource<Pool>& pages,
                     Ticks deadline)
      : vectors_(vectors), pages_(pages), deadline_(deadline) {}

  void expect(NodeId) const {}
  void pause() { pages_.pause(); }
  const slotted::VectorReads& reads() const { return reads_; }

  template <typename Visit>
  Status expand(std::span<const NodeId> frontier, Visit&& visit) {
    NodeId ids[graph::kMaxWidth];
    const std::span<NodeId> ascending(ids, frontier.size());
    std::copy(frontier.begin(), frontier.end(), ids);
    std::sort(ascending.begin(), ascending.end());
    return vectors_.read(ascending, deadline_, reads_, [&](NodeId id, const std::byte* vector) {
      visit(id, NodeRecord{.vector = vector});
    });
  }

 private:
  slotted::VectorReader& vectors_;
  slotted::SlottedSource<Pool>& pages_;
  const Ticks deadline_;
  slotted::VectorReads reads_;
};

/// A StoredVectorScorer compares vectors exactly, where SlottedScorer would compare payloads of
/// records.
struct StoredVectorScorer : slotted::SlottedScorer {
  float exact(NodeId, const NodeRecord& record) const {
    return index.distance(query, record.vector);
  }
};

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

  Status search(const SearchRequest& request, SearchAnswer& answer) {
    const SlottedIndex& index = store_.index();
    if (Status status = check(request.parameters); !status.ok()) return status;
    if (request.exact && !has_vectors()) return kNoVectors;
    index.prepare(request.query, prepared_);
    source_.begin(request.deadline);
    if (request.is_among_rows() || request.exact) return scan(request, answer);
    ++answer.counts.walks;
    const slotted::SearchStart start = slotted::find_start(index, prepared_, scratch_);
    Status status = run(request, start.view(), answer.counts);
    answer.counts.estimates += start.estimates;
    count_pages(answer.counts);
    if (status.ok() && vectors_ != nullptr) status = rank_again(request, answer.counts);
    if (status.ok()) copy_results(scratch_.results, answer);
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

  /// Says whether searches read vectors. Otherwise pages have codes, and these alone are compared.
  bool has_vectors() const { return vectors_ != nullptr || store_.index().vectors_in_records(); }

  /// How many results of a search are ranked again.
  std::uint32_t reranked(const SearchParameters& search) const {
    const slotted::SlottedSearchOptions& planned = store_.options();
    if (!planned.rerank_by_k) return planned.rerank;
    return std::min(planned.rerank, slotted::reranked(search.k(), search.graph().list));
  }

  Status run(const SearchRequest& request, std::span<const NodeId> entries, QueryCounts& counts) {
    graph::BeamParameters parameters = beam_parameters(store_.index(), request);
    parameters.k = std::max(request.parameters.k(), reranked(request.parameters));
    Status status;
    do {
      status = run_once(parameters, entries);
      add_counts(scratch_.counts, counts);
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

  void count_pages(QueryCounts& counts) const {
    const slotted::PoolCounts pages = source_.counts();
    counts.reads = pages.reads;
    counts.bytes = pages.reads * store_.index().geometry().page_bytes;
    counts.cache_hits = pages.hits;
    counts.pool_misses = pages.misses;
  }

  /// Compares the rows that the request is among, or all of an exact search, by their vectors alone
  /// where these lie beside the pages.
  Status scan(const SearchRequest& request, SearchAnswer& answer) {
    ++answer.counts.scans;
    const Status rows = check_rows(request.only, store_.index().count());
    if (!rows.ok()) return rows;
    const Status status = vectors_ != nullptr ? scan_vectors(request, answer.counts)
                                              : scan_records(request, answer.counts);
    if (status.ok()) copy_results(scratch_.results, answer);
    return status;
  }

  Status scan_vectors(const SearchRequest& request, QueryCounts& counts) {
    using Source = StoredVectorSource<Pool>;
    Source source(*vectors_, source_, request.deadline);
    const StoredVectorScorer scorer{{store_.index(), prepared_}};
    const Status status =
        RowScan<Source, StoredVectorScorer>(
            {source, scorer, request, nullptr, store_.index().count()}, scratch_, counts)
            .run();
    count_vectors(source.reads(), counts);
    return status;
  }

  Status scan_records(const SearchRequest& request, QueryCounts& counts) {
    using Scan = RowScan<slotted::SlottedSource<Pool>, slotted::SlottedScorer>;
    const slotted::SlottedScorer scorer{store_.index(), prepared_};
    const std::size_t rows = store_.index().count();
    const Status status = Scan({source_, scorer, request, nullptr, rows}, scratch_, counts).run();
    count_pages(counts);
    return status;
  }

  /// Ranks results by their stored vectors; the k nearest of all results are left.
  Status rank_again(const SearchRequest& request, QueryCounts& counts) {
    graph::CandidateList& results = scratch_.results;
    ids_.clear();
    for (std::uint32_t i = 0; i < results.size(); ++i) ids_.push_back(results[i].id);
    std::sort(ids_.begin(), ids_.end());
    results.reset(request.parameters.k());
    slotted::VectorReads reads;
    const Status status =
        vectors_->read(ids_, request.deadline, reads, [&](NodeId id, const std::byte* vector) {
          results.keep(store_.index().distance(prepared_, vector), id);
          ++counts.distances;
        });
    count_vectors(reads, counts);
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
      : SearcherPart<SlottedSearcher<Pool>>(kDiskRequestBytes),
        store_(std::move(store)),
        queue_(std::move(engine), scheduler,
               {.max_waiting = SlottedStore::reads_per_core(store_->options())}),
        disk_(queue_, {layout::kRegionHeaderBytes, geometry().page_bytes}, buffers()),
        reader_(pool, disk_, scheduler, store_->options().slots,
                {.buffers = buffers(),
                 .page_bytes = geometry().page_bytes,
                 .memory = shared_memory(scheduler,
                                         SlottedStore::page_buffers_per_core(store_->options()),
                                         geometry().page_bytes)}) {
    disk_.set_sink(reader_.pages());
    queue_.engine().register_memory(reader_.pages().memory().memory());
    if (store_->options().rerank > 0) {
      const std::uint32_t vector_bytes = store_->index().vector_bytes();
      const std::uint32_t reads = SlottedStore::vector_reads_per_core(store_->options());
      vectors_.emplace(
          queue_, scheduler, slotted::VectorFile{.vector_bytes = vector_bytes}, reads,
          shared_memory(scheduler, reads, slotted::VectorReader::buffer_bytes(vector_bytes)));
      queue_.engine().register_memory(vectors_->memory().memory());
    }
    for (std::uint32_t s = 0; s < store_->options().slots; ++s) {
      this->add_slot(std::make_unique<SlottedSearcher<Pool>>(
          *store_,
          slotted::SlottedSource<Pool>(geometry(), reader_, {s, store_->options().page_search}),
          vectors_ ? &*vectors_ : nullptr));
    }
  }
  /// Prefetches may be under way, and their pages belong to the reader.
  ~SlottedPart() override {
    queue_.close();
    if (queue_.engine().outstanding() == 0) return;
    // The kernel still writes to some buffers, which other parts of this core share.
    reader_.pages().memory().abandon();
    if (vectors_) vectors_->memory().abandon();
  }

  bool poll() override { return queue_.poll(); }

  CoreStatistics statistics() const override {
    CoreStatistics result = SearcherPart<SlottedSearcher<Pool>>::statistics();
    result.in_flight_reads = reader_.pages().under_way();
    if (vectors_) {
      result.in_flight_reads += vectors_->under_way();
      result.dram_bytes += vectors_->dram_bytes();
    }
    result.dram_bytes += reader_.dram_bytes() + store_->pool_bytes() / store_->options().cores;
    return result;
  }

 private:
  /// Returns the core's buffers where indexes share a budget; null elsewhere.
  std::shared_ptr<slotted::ReadBuffers> shared_memory(const coroutines::Scheduler& scheduler,
                                                      std::uint32_t count,
                                                      std::size_t bytes_each) const {
    const auto& budget = store_->options().shared_budget;
    return budget == nullptr ? nullptr : budget->core_buffers().of(&scheduler, count, bytes_each);
  }

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
