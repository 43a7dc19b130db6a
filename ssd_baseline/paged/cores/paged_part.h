// A PagedPart is what a core searches and changes an HNSW graph on pages with.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "search/core/core_part.h"
#include "ssd_baseline/paged/cores/change_hands.h"
#include "ssd_baseline/paged/cores/shared_work.h"
#include "ssd_baseline/paged/search/hnsw_searcher.h"
#include "ssd_baseline/paged/store/page_fetcher.h"
#include "tiers/tier.h"

namespace farvec::paged {

/// The longest list of a search.
inline constexpr std::uint32_t kMostHnswList = 1u << 20;

/// Sums the counts of many searches. Any thread may call it.
class SearchCounts {
 public:
  void add(const HnswCounts& counts);
  /// Returns the sum since the last call.
  HnswCounts take();

 private:
  std::mutex mutex_;
  HnswCounts sum_;
};

struct PagedCoreOptions {
  HnswReadOptions reads;
  std::uint32_t slots = 8;     ///< searches in flight on each core; at least 1
  std::uint32_t changers = 8;  ///< fibers of each core that change the graph; may be 0
  std::uint32_t max_list = kMostHnswList;
  disk::DiskThread thread = disk::DiskThread::any;  ///< threads that run a core
  std::shared_ptr<SearchCounts> counts = nullptr;   ///< receives each search's; may be null
};

/// Returns the counts of searches in the words of all indexes. Pages that another search was
/// reading already are neither reads nor hits.
search::QueryCounts query_counts(const HnswCounts& counts, std::uint32_t page_bytes);

/// A search of more results than the graph has vertices finds them all. Rows that are out are not
/// for it: the graph itself knows what is deleted. Besides searches it does the works of a queue,
/// in fibers of its own.
class PagedPart final : public search::CorePart {
 public:
  /// Graph and scheduler must outlive it. Without a queue it only searches.
  PagedPart(PagedHnsw& hnsw, std::shared_ptr<WorkQueue> works, const PagedCoreOptions& options,
            coroutines::Scheduler& scheduler);

  std::uint32_t slots() const override { return options_.slots; }
  Status search(std::uint32_t slot, const search::SearchRequest& request,
                search::SearchAnswer& answer) override;
  bool poll() override;
  bool busy() const override;
  search::CoreStatistics statistics() const override;

 private:
  HnswSearcher& searcher(std::uint32_t slot);
  bool begin_work();
  void work(ChangeHands& hands);

  PagedHnsw& hnsw_;
  const std::shared_ptr<WorkQueue> works_;
  const PagedCoreOptions options_;
  coroutines::Scheduler& scheduler_;
  PageFetcher fetcher_;
  std::vector<std::unique_ptr<HnswSearcher>> searchers_;  ///< each made for its slot's first search
  std::vector<std::unique_ptr<ChangeHands>> hands_;       ///< one for each fiber that changes
  std::vector<ChangeHands*> unused_;                      ///< those that no fiber has
};

/// Makes cores that search one graph, and do the works of one queue.
class PagedCores final : public tiers::CoreSet {
 public:
  /// The graph must outlive the cores. Without a queue they only search.
  PagedCores(PagedHnsw& hnsw, const PagedCoreOptions& options,
             std::shared_ptr<WorkQueue> works = nullptr)
      : hnsw_(hnsw), options_(options), works_(std::move(works)) {}

  std::uint32_t slots() const override { return options_.slots; }
  search::CoreFibers fibers() const override;
  std::unique_ptr<search::CorePart> make_part(coroutines::Scheduler& scheduler) const override;

 private:
  PagedHnsw& hnsw_;
  const PagedCoreOptions options_;
  const std::shared_ptr<WorkQueue> works_;
};

}  // namespace farvec::paged
