#include "ssd_baseline/paged/cores/paged_part.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace farvec::paged {

namespace {

/// Searches that yield to changes are long beside a poll.
constexpr std::uint32_t kPollInterval = 4;

std::uint64_t expanded(const HnswCounts& counts) {
  std::uint64_t sum = 0;
  for (const HnswLayerCounts& layer : counts.layers) sum += layer.expanded;
  return sum;
}

void copy(std::span<const graph::Candidate> found, std::uint32_t k, search::SearchAnswer& answer) {
  answer.found = std::min(k, static_cast<std::uint32_t>(found.size()));
  for (std::uint32_t i = 0; i < answer.found; ++i) {
    answer.distances[i] = found[i].distance;
    answer.ids[i] = found[i].id;
  }
}

}  // namespace

search::QueryCounts query_counts(const HnswCounts& counts, std::uint32_t page_bytes) {
  FetchCounts pages = pages_of(counts);
  pages += counts.meta;
  search::QueryCounts sum;
  sum.hops = expanded(counts);
  sum.pool_misses = pages.asked - pages.hits;
  sum.reads = sum.pool_misses - pages.joined;
  sum.bytes = sum.reads * page_bytes;
  sum.cache_hits = pages.hits;
  sum.distances = distances(counts);
  return sum;
}

void SearchCounts::add(const HnswCounts& counts) {
  const std::lock_guard lock(mutex_);
  sum_ += counts;
}

HnswCounts SearchCounts::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(sum_, {});
}

PagedPart::PagedPart(PagedHnsw& hnsw, std::shared_ptr<WorkQueue> works,
                     const PagedCoreOptions& options, coroutines::Scheduler& scheduler)
    : hnsw_(hnsw),
      works_(std::move(works)),
      options_(options),
      scheduler_(scheduler),
      fetcher_(hnsw.store(), scheduler, {.thread = options.thread}),
      searchers_(options.slots) {
  FARVEC_CHECK(options.slots > 0);
  if (works_ == nullptr) return;
  for (std::uint32_t i = 0; i < options.changers; ++i) {
    hands_.push_back(std::make_unique<ChangeHands>(hnsw, fetcher_, options.reads));
    unused_.push_back(hands_.back().get());
  }
}

HnswSearcher& PagedPart::searcher(std::uint32_t slot) {
  std::unique_ptr<HnswSearcher>& searcher = searchers_[slot];
  if (!searcher) searcher = std::make_unique<HnswSearcher>(hnsw_, fetcher_, options_.reads);
  return *searcher;
}

Status PagedPart::search(std::uint32_t slot, const search::SearchRequest& request,
                         search::SearchAnswer& answer) {
  answer.found = 0;
  answer.counts = {};
  answer.coverage = 1;
  const search::SearchBounds bounds{
      .kind = layout::IndexKind::graph, .list = options_.max_list, .width = 1};
  if (Status status = request.parameters.check(bounds); !status.ok()) return status;
  if (request.is_among_rows()) {
    return {StatusCode::invalid_argument,
            "a graph on pages that change cannot be searched among given rows"};
  }
  if (request.exact) {
    return {StatusCode::invalid_argument,
            "a graph on pages that change has no exact search: ask for a longer list"};
  }
  FARVEC_CHECK(request.out == nullptr, "a graph on pages knows itself what is deleted");
  HnswSearcher& searcher = this->searcher(slot);
  searcher.counts().clear();
  const Status status = searcher.search({.vector = {request.query, hnsw_.shape().vector_bytes()},
                                         .list = request.parameters.graph().list,
                                         .deadline = request.deadline});
  answer.counts = query_counts(searcher.counts(), hnsw_.shape().page_bytes);
  if (options_.counts != nullptr) options_.counts->add(searcher.counts());
  if (status.ok()) copy(searcher.found(), request.parameters.k(), answer);
  // A search whose pages are all in the buffer has not suspended: changes get their turn.
  if (busy()) scheduler_.yield();
  return status;
}

/// Gives the next work a fiber, one in a poll: it has taken its operation when the next poll comes.
bool PagedPart::begin_work() {
  if (works_ == nullptr || unused_.empty() || !works_->any()) return false;
  ChangeHands* const hands = unused_.back();
  if (!scheduler_.spawn([this, hands] { work(*hands); }).ok()) return false;
  unused_.pop_back();
  return true;
}

void PagedPart::work(ChangeHands& hands) {
  while (const std::shared_ptr<SharedWork> work = works_->next()) work->step(hands);
  unused_.push_back(&hands);
}

bool PagedPart::poll() {
  const bool came = fetcher_.poll();
  return begin_work() || came;
}

bool PagedPart::busy() const {
  return unused_.size() < hands_.size() || (!hands_.empty() && works_->any());
}

search::CoreStatistics PagedPart::statistics() const {
  search::CoreStatistics result;
  result.in_flight_reads = fetcher_.reads_under_way();
  for (const auto& searcher : searchers_) {
    if (searcher) result.dram_bytes += searcher->dram_bytes();
  }
  for (const auto& hands : hands_) result.dram_bytes += hands->dram_bytes();
  return result;
}

search::CoreFibers PagedCores::fibers() const {
  if (works_ == nullptr) return {.slots = options_.slots};
  return {.slots = options_.slots, .helpers = options_.changers, .poll_interval = kPollInterval};
}

std::unique_ptr<search::CorePart> PagedCores::make_part(coroutines::Scheduler& scheduler) const {
  return std::make_unique<PagedPart>(hnsw_, works_, options_, scheduler);
}

}  // namespace farvec::paged
