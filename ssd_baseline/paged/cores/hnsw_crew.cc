#include "ssd_baseline/paged/cores/hnsw_crew.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "base/parallel.h"
#include "base/status_error.h"
#include "ssd_baseline/paged/cores/paged_part.h"

namespace farvec::paged {
namespace {

using Clock = std::chrono::steady_clock;

/// A thread looks this often whether the others have ended the work, or time is up.
constexpr std::chrono::milliseconds kWaitForWork{2};

std::span<const std::byte> row_of(const VectorView& rows, std::size_t i) {
  return {rows.row(i), rows.row_bytes()};
}

/// Keeps a core at work, without searches, until a work has finished.
class WorkFeed final : public search::TaskFeed {
 public:
  explicit WorkFeed(const CountedWork& work) : work_(work) {}
  search::SearchTask* next() override { return nullptr; }
  bool finished() override { return work_.finished(); }
  void done(search::SearchTask&) override {}
  void idle() override { (void)work_.wait(kWaitForWork); }

 private:
  const CountedWork& work_;
};

}  // namespace

HnswCrew::HnswCrew(PagedHnsw& hnsw, HnswCrewOptions options)
    : hnsw_(hnsw), options_(std::move(options)) {
  FARVEC_CHECK(options_.threads > 0 && options_.slots > 0);
}

bool HnswCrew::is_over() const {
  return now_ticks() >= options_.until || asked_to_end(options_.interrupted);
}

Ticks HnswCrew::deadline() const {
  return std::min(options_.until, now_ticks() + us_to_ticks(options_.deadline_us));
}

HnswWork HnswCrew::run(std::size_t count, CountedWork::Operation operation) {
  const CountedWork::Manner manner{[this] { return is_over(); }, options_.advanced};
  const auto work = std::make_shared<CountedWork>(count, std::move(operation), manner);
  const auto start = Clock::now();
  if (options_.served == nullptr) {
    run_on_own_cores(work);
  } else {
    options_.served->add(work);
    wait_for_served(*work);
  }
  work->rethrow();
  HnswWork outcome;
  static_cast<ChangeCounts&>(outcome) = work->counts();
  outcome.done = work->done();
  outcome.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return outcome;
}

void HnswCrew::run_on_own_cores(const std::shared_ptr<CountedWork>& work) const {
  const auto works = std::make_shared<WorkQueue>();
  works->add(work);
  const PagedCores cores(hnsw_,
                         {.reads = options_.reads,
                          .slots = 1,
                          .changers = options_.slots,
                          .thread = disk::DiskThread::owner},
                         works);
  parallel_for(options_.threads, 1, options_.threads, [&](std::size_t, std::size_t, unsigned) {
    WorkFeed feed(*work);
    cores.make_core()->run(feed);
  });
}

/// The cores may be gone, or have other work: then nothing is begun any more when time is up.
void HnswCrew::wait_for_served(CountedWork& work) const {
  while (!work.wait(kWaitForWork)) {
    if (is_over()) work.stop();
  }
}

/// Returns how a change ended. Where each is to be acknowledged, waits until it is durable.
Status HnswCrew::acknowledge(ChangeHands& hands, const Result<wal::Position>& change) const {
  if (!change.ok() || !options_.acknowledge_each) return change.status();
  return hands.fetcher().wait_durable(change.value(), deadline());
}

HnswWork HnswCrew::insert(const HnswInserts& inserts) {
  const std::span<const NodeId> ids = inserts.ids.empty() ? inserts.chosen : inserts.ids;
  FARVEC_CHECK(ids.size() == inserts.chosen.size());
  HnswWork work = run(ids.size(), [&](ChangeHands& hands, std::size_t i) {
    const auto vector = row_of(inserts.rows, inserts.chosen[i]);
    const Status status =
        acknowledge(hands, hands.writer().insert(ids[i], vector, deadline(), options_.if_there));
    if (!status.ok()) {
      throw StatusError(status.code(), "inserting id {} (row {}): {}", ids[i], inserts.chosen[i],
                        status.message());
    }
  });
  flush();
  return work;
}

HnswWork HnswCrew::erase(std::span<const NodeId> ids, std::uint64_t* missing) {
  std::atomic<std::uint64_t> absent{0};
  HnswWork work = run(ids.size(), [&](ChangeHands& hands, std::size_t i) {
    const Status status = acknowledge(hands, hands.writer().mark_deleted(ids[i], deadline()));
    if (missing != nullptr && status.code() == StatusCode::not_found) {
      absent.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    if (!status.ok()) {
      throw StatusError(status.code(), "deleting id {}: {}", ids[i], status.message());
    }
  });
  if (missing != nullptr) *missing = absent.load(std::memory_order_relaxed);
  flush();
  return work;
}

HnswWork HnswCrew::get(std::span<const NodeId> ids, HnswRows& read) {
  const std::size_t row_bytes = hnsw_.shape().vector_bytes();
  FARVEC_CHECK(read.found.size() == ids.size() && read.rows.size() == ids.size() * row_bytes);
  return run(ids.size(), [&](ChangeHands& hands, std::size_t i) {
    const auto row = std::span(read.rows).subspan(i * row_bytes, row_bytes);
    const Status status = hands.getter().get(ids[i], deadline(), row);
    read.found[i] = status.ok() ? 1 : 0;
    if (status.ok() || status.code() == StatusCode::not_found) return;
    throw StatusError(status.code(), "reading id {}: {}", ids[i], status.message());
  });
}

HnswVacuumWork HnswCrew::vacuum() {
  HnswVacuumWork work;
  const HnswWork done = run(1, [&](ChangeHands& hands, std::size_t) {
    HnswVacuum vacuum(hnsw_, hands.fetcher(), {.reads = hands.reads()});
    while (!is_over()) {
      const auto more = vacuum.step(deadline());
      if (!more.ok())
        throw StatusError(more.status().code(), "the vacuum: {}", more.status().message());
      if (!more.value()) break;
      if (options_.advanced) options_.advanced(1);
      hands.fetcher().scheduler().yield();  // a step whose pages are in the buffer does not suspend
    }
    work.vacuum = vacuum.done();
    work.counts = vacuum.counts();
  });
  flush();
  work.seconds = done.seconds;
  return work;
}

void HnswCrew::flush() {
  wal::Log& log = hnsw_.store().log();
  const Status status = log.flush(log.end(), now_ticks() + us_to_ticks(options_.deadline_us));
  if (!status.ok()) throw StatusError(status.code(), "the log: {}", status.message());
}

}  // namespace farvec::paged
