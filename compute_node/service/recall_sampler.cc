#include "compute_node/service/recall_sampler.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/clock.h"
#include "base/log.h"

namespace farvec::compute_node {
namespace {

using Clock = std::chrono::steady_clock;

/// A node that is told to stop waits for the searches that run.
constexpr double kSearchUs = 5e6;
/// A sample is given up when queries have waited for slots all this time.
constexpr std::chrono::milliseconds kMostBusy{10'000};
constexpr std::chrono::milliseconds kLook{10};
constexpr std::chrono::minutes kBetweenWarnings{1};
/// Fewer searches say little about recall.
constexpr std::uint64_t kLeastToWarn = 20;

/// Returns how many neighbours two searches have in common. They are told by their distances, both
/// ascending: which of several rows at one distance are found does not matter.
std::uint32_t in_common(const std::vector<float>& some, const std::vector<float>& others) {
  std::vector<float> both;
  std::set_intersection(some.begin(), some.end(), others.begin(), others.end(),
                        std::back_inserter(both));
  return static_cast<std::uint32_t>(both.size());
}

}  // namespace

struct RecallSampler::Outcome {
  /// Called by the replier's thread.
  void take(Batch& batch) {
    const search::SearchAnswer& answer = batch.tasks().front().answer;
    const std::lock_guard lock(mutex);
    sound = answer.status.ok() && answer.coverage == 1;
    counts = answer.counts;
    if (sound) distances.assign(answer.distances, answer.distances + answer.found);
    ended = true;
    changed.notify_one();
  }
  /// Returns false where `time` passes before the search ends.
  bool ended_within(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, time, [this] { return ended; });
  }

  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  // These are set when it has ended:
  bool sound = false;  ///< it ended well, and all records could be read
  search::QueryCounts counts;
  std::vector<float> distances;  ///< to what it found, ascending
};

RecallSampler::RecallSampler(const Supervisor& supervisor, const RecallOptions& options)
    : supervisor_(supervisor), options_(options), random_(static_cast<std::uint64_t>(now_ticks())) {
  thread_ = std::thread([this] { run(); });
}

RecallSampler::~RecallSampler() {
  stop();
}

void RecallSampler::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void RecallSampler::offer(Batch& batch) {
  if (batch.shape().exact) return;
  const std::lock_guard lock(mutex_);
  for (const QueuedTask& task : batch.tasks()) {
    if (!task.answer.status.ok() || task.answer.coverage < 1) continue;
    if (random_.uniform() >= options_.share) continue;
    if (next_ || busy_ || stopping_) {
      statistics_.skip();
      continue;
    }
    next_ =
        Sample{{task.request.query, task.request.query + batch.shape().query_bytes}, batch.shape()};
    next_->shape.queries = 1;
    next_->shape.select.clear();
    changed_.notify_one();
  }
}

std::optional<RecallSampler::Sample> RecallSampler::take() {
  std::unique_lock lock(mutex_);
  busy_ = false;
  changed_.wait(lock, [this] { return stopping_ || next_.has_value(); });
  if (stopping_) return std::nullopt;
  busy_ = true;
  return std::exchange(next_, std::nullopt);
}

bool RecallSampler::stopped_within(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [this] { return stopping_; });
}

void RecallSampler::run() {
  while (const std::optional<Sample> sample = take()) {
    if (!repeat(*sample)) statistics_.skip();
  }
}

/// Waits until the budget allows a search and no query waits for a slot. Returns null where that
/// takes too long, or nothing is served.
std::shared_ptr<Engine> RecallSampler::quiet_engine() {
  while (Clock::now() < affordable_) {
    if (stopped_within(kLook)) return nullptr;
  }
  const auto end = Clock::now() + kMostBusy;
  while (Clock::now() < end) {
    std::shared_ptr<Engine> engine = supervisor_.engine();
    if (engine == nullptr) return nullptr;
    if (engine->queued() == 0) return engine;
    if (stopped_within(kLook)) return nullptr;
  }
  return nullptr;
}

/// Returns false where one of the searches did not end well.
bool RecallSampler::repeat(const Sample& sample) {
  const std::shared_ptr<Engine> engine = quiet_engine();
  if (engine == nullptr) return false;
  const auto asked = search(*engine, sample, false);
  if (asked == nullptr || !asked->sound) return false;
  const auto exact = search(*engine, sample, true);
  if (exact == nullptr) return false;
  spend(exact->counts.distances);
  if (!exact->sound) return false;
  const auto wanted = static_cast<std::uint32_t>(exact->distances.size());
  if (wanted == 0) return true;  // nothing is to be found
  const RecallFilter filter = sample.shape.condition == nullptr
                                  ? RecallFilter::none
                                  : filter_of(asked->counts.matches, engine->present().count);
  statistics_.add(plan_of(asked->counts), filter, wanted,
                  in_common(asked->distances, exact->distances));
  warn_below_goal();
  return true;
}

/// Returns null where the node does not take it, or is told to stop.
std::shared_ptr<RecallSampler::Outcome> RecallSampler::search(Engine& engine, const Sample& sample,
                                                              bool exact) {
  BatchShape shape = sample.shape;
  shape.exact = exact;
  shape.deadline = now_ticks() + us_to_ticks(kSearchUs);
  if (exact) shape.work = exact_work(engine.present());
  auto batch = std::make_unique<Batch>(shape);
  std::memcpy(batch->query_slot(0), sample.query.data(), sample.query.size());
  auto outcome = std::make_shared<Outcome>();
  batch->answer = [outcome](Batch& done) { outcome->take(done); };
  if (!engine.submit(batch).ok()) return nullptr;
  // Every search that a node takes ends.
  while (!outcome->ended_within(kLook)) {
    if (stopped_within(std::chrono::milliseconds(0))) return nullptr;
  }
  return outcome;
}

void RecallSampler::spend(std::uint64_t rows) {
  const double seconds = static_cast<double>(rows) / std::max(1u, options_.rows_per_second);
  affordable_ = std::max(affordable_, Clock::now()) +
                std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(seconds * 1e3)));
}

void RecallSampler::warn_below_goal() {
  const RecallSnapshot now = statistics_.snapshot();
  if (options_.goal <= 0 || now.recent.samples < kLeastToWarn || now.recall() >= options_.goal) {
    return;
  }
  if (warned_ != Clock::time_point() && Clock::now() < warned_ + kBetweenWarnings) return;
  warned_ = Clock::now();
  spdlog::warn(
      "recall of the last {} searches that were repeated exactly is {:.3f}, below --recall-goal "
      "{:g}: longer lists or more clusters find more",
      now.recent.samples, now.recall(), options_.goal);
}

}  // namespace farvec::compute_node
