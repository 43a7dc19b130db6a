#include "ssd_baseline/paged/change/hnsw_crew.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/parallel.h"
#include "coroutines/scheduler.h"
#include "ssd_baseline/paged/search/hnsw_searcher.h"

namespace farvec::paged {
namespace {

using Clock = std::chrono::steady_clock;

std::span<const std::byte> row_of(const VectorView& rows, std::size_t i) {
  return {rows.row(i), rows.row_bytes()};
}

void add(HnswWriteCounts& sum, const HnswWriteCounts& part) {
  sum.inserted += part.inserted;
  sum.deleted += part.deleted;
  sum.retries += part.retries;
  sum.left_out += part.left_out;
  sum.edges_back += part.edges_back;
  sum.pages_added += part.pages_added;
}

void add(PartitionPlacementCounts& sum, const PartitionPlacementCounts& part) {
  sum.placed += part.placed;
  sum.extended += part.extended;
  sum.fallback += part.fallback;
}

/// Is what the threads of a call share.
class Queue {
 public:
  Queue(std::size_t count, const HnswCrewOptions& options) : count_(count), options_(options) {}

  /// Returns the next operation; none when all have begun, one has failed, or the call was
  /// interrupted.
  std::optional<std::size_t> next() {
    // Relaxed: a failure need not be seen at once; rethrow() comes after the threads have joined.
    if (failed_.load(std::memory_order_relaxed) || options_.interrupted()) return std::nullopt;
    const std::size_t i = next_.fetch_add(1, std::memory_order_relaxed);
    if (i >= count_) return std::nullopt;
    return i;
  }

  void ended() {
    done_.fetch_add(1, std::memory_order_relaxed);
    options_.advanced(1);
  }

  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    failed_.store(true, std::memory_order_relaxed);
  }

  /// This and rethrow() are called after the threads have joined.
  std::uint64_t done() const { return done_.load(std::memory_order_relaxed); }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  const std::size_t count_;
  const HnswCrewOptions& options_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::uint64_t> done_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace

/// Holds what one fiber works with. Each of its objects is made when it is first needed.
struct HnswCrew::Hands {
  Hands(PagedHnsw& graph, PageFetcher& pages, const HnswCrewOptions& choices)
      : hnsw(graph), fetcher(pages), options(choices), placement(graph, pages) {}

  HnswSearcher& searcher() {
    if (!searcher_) searcher_.emplace(hnsw, fetcher, options.reads);
    return *searcher_;
  }
  HnswWriter& writer() {
    if (!writer_) {
      HnswWriterOptions choices{.reads = options.reads};
      choices.placement = &placement;
      writer_.emplace(hnsw, fetcher, choices);
    }
    return *writer_;
  }

  VertexGetter& getter() {
    if (!getter_) getter_.emplace(hnsw, fetcher);
    return *getter_;
  }

  Ticks deadline() const { return now_ticks() + us_to_ticks(options.deadline_us); }

  /// Returns how a change ended. Where each is to be acknowledged, waits until it is durable.
  Status acknowledge(const Result<wal::Position>& change) {
    if (!change.ok() || !options.acknowledge_each) return change.status();
    return fetcher.wait_durable(change.value(), deadline());
  }

  void add_to(HnswWork& work) {
    if (searcher_) work.counts += searcher_->counts();
    if (getter_) work.counts.meta += getter_->counts();
    if (!writer_) return;
    work.counts += writer_->counts();
    add(work.written, writer_->written());
    add(work.placement, placement.counts());
  }

  PagedHnsw& hnsw;
  PageFetcher& fetcher;
  const HnswCrewOptions& options;
  PartitionPlacement placement;

 private:
  std::optional<HnswSearcher> searcher_;
  std::optional<HnswWriter> writer_;
  std::optional<VertexGetter> getter_;
};

HnswCrew::HnswCrew(PagedHnsw& hnsw, HnswCrewOptions options)
    : hnsw_(hnsw), options_(std::move(options)) {
  FARVEC_CHECK(options_.threads > 0 && options_.slots > 0);
}

template <typename Operation>
HnswWork HnswCrew::run(std::size_t count, Operation operation) {
  Queue queue(count, options_);
  HnswWork work;
  std::mutex sum;
  const auto fiber = [&](PageFetcher& fetcher) {
    try {
      Hands hands(hnsw_, fetcher, options_);
      while (const auto i = queue.next()) {
        operation(hands, *i);
        queue.ended();
      }
      const std::lock_guard lock(sum);
      hands.add_to(work);
    } catch (...) {
      queue.fail(std::current_exception());
    }
  };
  const auto start = Clock::now();
  parallel_for(options_.threads, 1, options_.threads, [&](std::size_t, std::size_t, unsigned) {
    coroutines::Scheduler scheduler({.max_fibers = options_.slots});
    PageFetcher fetcher(hnsw_.store(), scheduler);
    scheduler.set_poller([&] { return fetcher.poll(); });
    for (std::uint32_t slot = 0; slot < options_.slots; ++slot) {
      const Status spawned = scheduler.spawn([&] { fiber(fetcher); });
      FARVEC_CHECK(spawned.ok(), "{}", spawned.message());
    }
    scheduler.run();
  });
  queue.rethrow();
  work.done = queue.done();
  work.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return work;
}

HnswWork HnswCrew::insert(const HnswInserts& inserts) {
  const std::span<const NodeId> ids = inserts.ids.empty() ? inserts.chosen : inserts.ids;
  FARVEC_CHECK(ids.size() == inserts.chosen.size());
  HnswWork work = run(ids.size(), [&](Hands& hands, std::size_t i) {
    const auto vector = row_of(inserts.rows, inserts.chosen[i]);
    const Status status =
        hands.acknowledge(hands.writer().insert(ids[i], vector, hands.deadline()));
    if (!status.ok()) {
      throw Error("inserting id {} (row {}): {}", ids[i], inserts.chosen[i], status.message());
    }
  });
  flush();
  return work;
}

HnswWork HnswCrew::erase(std::span<const NodeId> ids, std::uint64_t* missing) {
  std::atomic<std::uint64_t> absent{0};
  HnswWork work = run(ids.size(), [&](Hands& hands, std::size_t i) {
    const Status status = hands.acknowledge(hands.writer().mark_deleted(ids[i], hands.deadline()));
    if (missing != nullptr && status.code() == StatusCode::not_found) {
      absent.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    if (!status.ok()) throw Error("deleting id {}: {}", ids[i], status.message());
  });
  if (missing != nullptr) *missing = absent.load(std::memory_order_relaxed);
  flush();
  return work;
}

HnswWork HnswCrew::get(std::span<const NodeId> ids, HnswRows& read) {
  const std::size_t row_bytes = hnsw_.shape().vector_bytes();
  FARVEC_CHECK(read.found.size() == ids.size() && read.rows.size() == ids.size() * row_bytes);
  return run(ids.size(), [&](Hands& hands, std::size_t i) {
    const auto row = std::span(read.rows).subspan(i * row_bytes, row_bytes);
    const Status status = hands.getter().get(ids[i], hands.deadline(), row);
    read.found[i] = status.ok() ? 1 : 0;
    if (status.ok() || status.code() == StatusCode::not_found) return;
    throw Error("reading id {}: {}", ids[i], status.message());
  });
}

HnswWork HnswCrew::search(const VectorView& queries, HnswAnswers& answers) {
  FARVEC_CHECK(answers.list >= answers.k && answers.ids.size() >= queries.count * answers.k);
  answers.latency_us.assign(queries.count, -1.0f);
  HnswWork work = run(queries.count, [&](Hands& hands, std::size_t i) {
    const Ticks start = now_ticks();
    HnswSearcher& searcher = hands.searcher();
    const Status status = searcher.search(
        {row_of(queries, i), answers.list, start + us_to_ticks(options_.deadline_us)});
    if (!status.ok()) throw Error("searching for query {}: {}", i, status.message());
    const auto found = searcher.found();
    for (std::uint32_t j = 0; j < answers.k; ++j) {
      const std::size_t cell = i * answers.k + j;
      const bool there = j < found.size();
      answers.ids[cell] = there ? found[j].id : kInvalidNode;
      answers.distances[cell] = there ? found[j].distance : std::numeric_limits<float>::infinity();
    }
    answers.latency_us[i] = static_cast<float>(ticks_to_us(now_ticks() - start));
  });
  std::erase(answers.latency_us, -1.0f);
  return work;
}

HnswVacuumWork HnswCrew::vacuum() {
  HnswVacuumWork work;
  const auto start = Clock::now();
  run_on_pages(hnsw_.store(), [&](PageFetcher& fetcher) {
    HnswVacuum vacuum(hnsw_, fetcher, {.reads = options_.reads});
    while (!options_.interrupted()) {
      const auto more = vacuum.step(now_ticks() + us_to_ticks(options_.deadline_us));
      if (!more.ok()) throw Error("the vacuum: {}", more.status().message());
      if (!more.value()) break;
      options_.advanced(1);
    }
    work.vacuum = vacuum.done();
    work.counts = vacuum.counts();
  });
  flush();
  work.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return work;
}

void HnswCrew::flush() {
  wal::Log& log = hnsw_.store().log();
  const Status status = log.flush(log.end(), now_ticks() + us_to_ticks(options_.deadline_us));
  if (!status.ok()) throw Error("the log: {}", status.message());
}

}  // namespace farvec::paged
