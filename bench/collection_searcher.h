// Searches of a collection by a thread of their own while others change it, and what they had.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "collection/search/collection_part.h"
#include "collection/write/collection.h"
#include "measure/report/statistics.h"
#include "search/core/core_loop.h"

namespace farvec {

struct SearcherOptions {
  std::uint32_t k = 10, list = 45, slots = 16;
  double pace_us = 0;           ///< between two searches; 0: none
  double patience_us = 3600e6;  ///< a search's deadline
};

/// Of the thread that asks.
inline double thread_processor_us() {
  timespec time{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) throw Error("no processor time");
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

/// Searches until it is told to stop, and remembers when each ended and how long it took.
class Searcher {
 public:
  struct Sample {
    Ticks finished = 0;
    float latency_us = 0;
    double processor_us = 0;  ///< that the thread had had by then
  };

  Searcher(const SearcherOptions& options, const collection::Collection& set,
           const VectorView& queries)
      : feed_(options, queries), thread_([this, options, &set] {
          collection::make_collection_core([&set] { return set.view(); }, options.slots)
              ->run(feed_);
        }) {}
  ~Searcher() {
    feed_.stop.store(true, std::memory_order_relaxed);
    thread_.join();
  }
  Searcher(const Searcher&) = delete;
  Searcher& operator=(const Searcher&) = delete;

  /// Of the searches so far; the thread has stopped.
  std::vector<Sample> stop() {
    feed_.stop.store(true, std::memory_order_relaxed);
    if (thread_.joinable()) thread_.join();
    thread_ = std::thread([] {});
    return std::move(feed_.samples);
  }

 private:
  struct Feed final : search::TaskFeed {
    Feed(const SearcherOptions& options, const VectorView& all)
        : queries(all),
          pace(us_to_ticks(options.pace_us)),
          patience(us_to_ticks(options.patience_us)),
          tasks(options.slots),
          ids(options.slots * options.k),
          distances(ids.size()) {
      for (std::size_t s = 0; s < tasks.size(); ++s) {
        tasks[s].request.parameters =
            search::SearchParameters::make(options.k, search::GraphChoice{.list = options.list})
                .value();
        tasks[s].answer.ids = &ids[s * options.k];
        tasks[s].answer.distances = &distances[s * options.k];
        free.push_back(&tasks[s]);
      }
    }
    search::SearchTask* next() override {
      const Ticks now = now_ticks();
      if (finished() || free.empty() || now < due) return nullptr;
      due = std::max(due + pace, now - pace);
      search::SearchTask* const task = free.back();
      free.pop_back();
      task->request.query = queries.row(asked++ % queries.count);
      task->request.deadline = now + patience;
      return task;
    }
    bool finished() override { return stop.load(std::memory_order_relaxed); }
    void done(search::SearchTask& task) override {
      if (!task.answer.status.ok())
        throw Error("a search failed: {}", task.answer.status.message());
      samples.push_back({task.clock.finished,
                         static_cast<float>(ticks_to_us(task.clock.finished - task.clock.started)),
                         thread_processor_us()});
      free.push_back(&task);
    }
    void idle() override {
      if (pace > 0) std::this_thread::sleep_for(std::chrono::microseconds(20));
    }

    const VectorView queries;
    const Ticks pace;
    const Ticks patience;
    Ticks due = 0;
    std::vector<search::SearchTask> tasks;
    std::vector<std::uint64_t> ids;
    std::vector<float> distances;
    std::vector<search::SearchTask*> free;
    std::vector<Sample> samples;
    std::uint64_t asked = 0;
    std::atomic<bool> stop{false};
  };

  Feed feed_;
  std::thread thread_;
};

/// Searches in the worst whole second of those between the two.
inline std::uint64_t worst_second(const std::vector<Searcher::Sample>& samples, Ticks begin,
                                  Ticks end) {
  const auto second = static_cast<Ticks>(us_to_ticks(1e6));
  std::vector<std::uint64_t> seconds((end - begin) / second);
  for (const auto& sample : samples) {
    if (sample.finished < begin) continue;
    const auto at = static_cast<std::size_t>((sample.finished - begin) / second);
    if (at < seconds.size()) ++seconds[at];
  }
  return seconds.empty() ? 0 : *std::min_element(seconds.begin(), seconds.end());
}

inline nlohmann::ordered_json summary(const std::vector<Searcher::Sample>& samples, Ticks begin,
                                      Ticks end) {
  std::vector<float> latencies;
  std::vector<double> processor;
  for (const auto& sample : samples) {
    if (sample.finished < begin || sample.finished >= end) continue;
    latencies.push_back(sample.latency_us);
    processor.push_back(sample.processor_us);
  }
  const double seconds = ticks_to_us(end - begin) / 1e6;
  const double searches = std::max<double>(static_cast<double>(latencies.size()), 1);
  const double had = processor.empty() ? 0 : processor.back() - processor.front();
  return {{"seconds", seconds},
          {"qps", static_cast<double>(latencies.size()) / seconds},
          {"qps_worst_second", worst_second(samples, begin, end)},
          {"processor_us", had / searches},
          {"processor_share", had / 1e6 / seconds},
          {"p50_us", measure::percentile(latencies, 0.5)},
          {"p99_us", measure::percentile(latencies, 0.99)}};
}

}  // namespace farvec
