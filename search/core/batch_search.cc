#include "search/core/batch_search.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <numeric>
#include <optional>

#include "base/clock.h"
#include "base/status_error.h"
#include "search/core/pinned_threads.h"

namespace farvec::search {
namespace {

/// Room for latencies at first; more latencies make it grow.
constexpr std::size_t kReserved = 1 << 20;

constexpr Status kWideId{StatusCode::invalid_argument,
                         "an id has more than 32 bits: ask for ids of 64"};

[[noreturn]] void throw_failed(std::size_t query, const Status& status) {
  throw StatusError(status.code(), "query {} failed: {} ({})", query, status.message(),
                    to_string(status.code()));
}

/// A task and the room for its answer.
struct Slot : SearchTask {
  std::uint64_t number = 0;  ///< its query is the row modulo their count
  std::vector<std::uint64_t> id_room;
  std::vector<float> distance_room;
};

/// The searches of a batch, from which each core takes the next. So no core is idle while another
/// has several left, however slow its processor is.
class Deal {
 public:
  Deal(std::uint64_t first, std::uint64_t end) : next_(first), end_(end) {}

  // Relaxed: a number is all that a core takes.
  std::optional<std::uint64_t> next() {
    const std::uint64_t number = next_.fetch_add(1, std::memory_order_relaxed);
    return number < end_ ? std::optional(number) : std::nullopt;
  }
  bool over() const { return next_.load(std::memory_order_relaxed) >= end_; }

 private:
  std::atomic<std::uint64_t> next_;
  const std::uint64_t end_;
};

class DealtFeed : public TaskFeed {
 public:
  DealtFeed(VectorView queries, const BatchParameters& parameters, dataset::GroundTruth& results,
            Deal& deal, std::size_t expected)
      : queries_(queries),
        parameters_(parameters),
        results_(results),
        deal_(deal),
        limit_(us_to_ticks(parameters.limit_ms * 1000)),
        start_(now_ticks()),
        deadline_(us_to_ticks(parameters.deadline_ms * 1000)) {
    latency_us.reserve(std::min(expected, kReserved));
  }

  SearchTask* next() override {
    if (finished()) return nullptr;
    const std::optional<std::uint64_t> number = deal_.next();
    if (!number) return nullptr;
    any_ = true;
    Slot* slot = free_slot();
    slot->number = *number;
    slot->request.query = queries_.row(slot->number % queries_.count);
    slot->request.deadline = now_ticks() + deadline_;
    return slot;
  }

  bool finished() override {
    if (deal_.over() || (parameters_.stop && parameters_.stop())) return true;
    return limit_ > 0 && any_ && now_ticks() - start_ >= limit_;
  }

  void done(SearchTask& task) override {
    auto* slot = static_cast<Slot*>(&task);
    if (!task.answer.status.ok()) {
      throw_failed(slot->number % queries_.count, task.answer.status);
    }
    latency_us.push_back(static_cast<float>(ticks_to_us(task.clock.finished - task.clock.started)));
    if (slot->number - parameters_.first < queries_.count) keep(*slot);
    free_.push_back(slot);
  }

  void idle() override {}

  std::vector<float> latency_us;
  QueryCounts totals;
  double coverage = 1;

 private:
  Slot* free_slot() {
    if (free_.empty()) {
      slots_.push_back(std::make_unique<Slot>());
      Slot& slot = *slots_.back();
      slot.id_room.resize(parameters_.search.k());
      slot.distance_room.resize(parameters_.search.k());
      slot.answer.ids = slot.id_room.data();
      slot.answer.distances = slot.distance_room.data();
      slot.request.parameters = parameters_.search;
      slot.request.partial = parameters_.partial;
      slot.request.count_lines = parameters_.count_lines;
      slot.request.exact = parameters_.exact;
      slot.request.within = parameters_.within;
      slot.request.condition = parameters_.condition;
      slot.request.plan = parameters_.plan;
      slot.request.refine = parameters_.refine;
      slot.request.candidates = parameters_.candidates;
      slot.request.attributes = parameters_.attributes != nullptr;
      free_.push_back(&slot);
    }
    Slot* slot = free_.back();
    free_.pop_back();
    return slot;
  }

  void keep(const Slot& slot) {
    const std::uint32_t k = parameters_.search.k();
    const std::size_t row = slot.number % queries_.count * k;
    for (std::uint32_t i = 0; i < k; ++i) {
      const bool found = i < slot.answer.found;
      const std::uint64_t id = found ? slot.answer.ids[i] : kNoUserId;
      if (parameters_.user_ids != nullptr) {
        (*parameters_.user_ids)[row + i] = id;
      } else {
        if (found && id >= kInvalidNode) throw_failed(slot.number % queries_.count, kWideId);
        results_.ids[row + i] = found ? static_cast<NodeId>(id) : kInvalidNode;
      }
      results_.distances[row + i] =
          found ? slot.answer.distances[i] : std::numeric_limits<float>::infinity();
    }
    if (parameters_.attributes != nullptr) {
      (*parameters_.attributes)[slot.number % queries_.count] = slot.answer.attributes;
    }
    totals += slot.answer.counts;
    coverage = std::min(coverage, slot.answer.coverage);
  }

  const VectorView queries_;
  const BatchParameters parameters_;
  dataset::GroundTruth& results_;
  Deal& deal_;
  const Ticks limit_;
  const Ticks start_;
  bool any_ = false;  ///< whether any search was dealt
  const Ticks deadline_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> free_;
};

}  // namespace

SearchParameters searchable(const Result<SearchParameters>& made) {
  if (!made.ok()) throw_failed(0, made.status());
  return made.value();
}

BatchOutcome run_batch(std::span<const std::unique_ptr<SearchCore>> cores, VectorView queries,
                       const BatchParameters& parameters, dataset::GroundTruth& results) {
  results.queries = queries.count;
  results.k = parameters.search.k();
  if (parameters.user_ids != nullptr) {
    parameters.user_ids->assign(queries.count * results.k, kNoUserId);
  } else {
    results.ids.resize(queries.count * results.k);
  }
  results.distances.resize(queries.count * results.k);
  if (parameters.attributes != nullptr) parameters.attributes->assign(queries.count, nullptr);
  const std::size_t searches = queries.count * parameters.repeats;
  Deal deal(parameters.first, parameters.first + searches);
  std::vector<std::unique_ptr<DealtFeed>> feeds;
  for (std::size_t c = 0; c < cores.size(); ++c) {
    feeds.push_back(std::make_unique<DealtFeed>(queries, parameters, results, deal,
                                                searches / cores.size() + 1));
  }
  std::vector<double> busy(cores.size());
  const auto start = std::chrono::steady_clock::now();
  const auto run = parameters.threads == BatchThreads::pinned ? run_pinned : run_unpinned;
  run(cores.size(), [&](std::size_t c) {
    const double before = processor_seconds();
    cores[c]->run(*feeds[c]);
    busy[c] = processor_seconds() - before;
  });
  BatchOutcome outcome;
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  outcome.processor_seconds = std::accumulate(busy.begin(), busy.end(), 0.0);
  for (const auto& feed : feeds) {
    outcome.latency_us.insert(outcome.latency_us.end(), feed->latency_us.begin(),
                              feed->latency_us.end());
    outcome.totals += feed->totals;
    outcome.coverage = std::min(outcome.coverage, feed->coverage);
  }
  return outcome;
}

}  // namespace farvec::search
