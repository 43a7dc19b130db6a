#include "compute_node/search_core.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "compute_node/endpoint_source.h"
#include "compute_node/mapped_source.h"
#include "coroutines/scheduler.h"
#include "graph/beam_search.h"
#include "quantization/rabitq.h"

namespace farvec::compute_node {
namespace {

/// Scores one query: neighbours by their codes in local DRAM, expanded records by their vectors.
struct CodeScorer {
  const GraphIndex& index;
  const quantization::RabitqQuery& prepared;
  const std::byte* query;

  void prefetch(NodeId id) const { index.quantizer().prefetch_record(index.codes(), id); }
  void estimate(const NodeId* ids, std::size_t count, float* out) const {
    index.quantizer().estimate(prepared, index.codes(), ids, count, out);
  }
  float exact(NodeId, const NodeRecord& record) const {
    return index.kernel()(query, record.vector, index.dimension());
  }
};

Status check_task(const GraphIndex& index, const SearchTask& task, std::uint32_t max_list) {
  if (task.k == 0) return {StatusCode::invalid_argument, "k must be at least 1"};
  if (task.k > index.count()) return {StatusCode::invalid_argument, "k exceeds the vector count"};
  if (task.list < task.k) return {StatusCode::invalid_argument, "the list must be at least k"};
  if (task.list > max_list) return {StatusCode::invalid_argument, "the list exceeds its maximum"};
  if (task.width == 0 || task.width > graph::kMaxWidth) {
    return {StatusCode::invalid_argument, "the width must be from 1 to 64"};
  }
  return {};
}

}  // namespace

/// Hides which source the lanes use.
class SearchCore::Impl {
 public:
  virtual ~Impl() = default;
  virtual void run(TaskFeed& feed) = 0;
  virtual CoreStatistics statistics() const = 0;
};

namespace {

/// A slot: one fiber's scratch and source.
template <typename Source>
struct Slot {
  Source source;
  graph::BeamScratch scratch;
  quantization::RabitqQuery prepared;
  coroutines::Fiber* fiber = nullptr;
};

template <typename Source>
class Core : public SearchCore::Impl {
 public:
  Core(const GraphIndex& index, SearchCoreOptions options)
      : index_(index), options_(std::move(options)), scheduler_({options.slots, 64 * 1024}) {}

  coroutines::Scheduler& scheduler() { return scheduler_; }
  void add_slot(Source source) {
    slots_.push_back(std::make_unique<Slot<Source>>(Slot<Source>{std::move(source), {}, {}}));
  }

  void run(TaskFeed& feed) override {
    feed_ = &feed;
    stopping_ = false;
    failure_ = nullptr;
    for (auto& slot : slots_) {
      const Status status = scheduler_.spawn([this, &slot] {
        try {
          serve(*slot);
        } catch (...) {
          fail();
        }
      });
      FARVEC_CHECK(status.ok(), "{}", status.message());
    }
    while (!stopping_) dispatch();
    for (Slot<Source>* slot : idle_) scheduler_.wake(slot->fiber);
    scheduler_.run();
    idle_.clear();
    if (failure_) std::rethrow_exception(failure_);
  }

  CoreStatistics statistics() const override {
    CoreStatistics result;
    result.live_searches = live_;
    for (const auto& slot : slots_) {
      result.dram_bytes += slot->scratch.dram_bytes();
    }
    return result;
  }

 private:
  /// One turn of the core's loop.
  void dispatch() {
    try {
      if (!idle_.empty()) offer_task();
      scheduler_.run_once();
      if (live_ == 0 && waiting_ == nullptr && idle_.size() == slots_.size()) {
        if (feed_->finished())
          stopping_ = true;
        else
          feed_->idle();
      }
    } catch (...) {
      fail();
    }
  }

  void offer_task() {
    waiting_ = feed_->next();
    if (waiting_ == nullptr) return;
    Slot<Source>* slot = idle_.back();
    idle_.pop_back();
    scheduler_.wake(slot->fiber);
  }

  void fail() {
    failure_ = std::current_exception();
    stopping_ = true;
  }

  SearchTask* take_task() {
    if (waiting_ != nullptr) return std::exchange(waiting_, nullptr);
    return feed_->next();
  }

  /// The body of a slot's fiber: search after search until the core stops.
  void serve(Slot<Source>& slot) {
    slot.fiber = scheduler_.running();
    while (!stopping_) {
      SearchTask* task = take_task();
      if (task == nullptr) {
        idle_.push_back(&slot);
        scheduler_.suspend();
        continue;
      }
      ++live_;
      task->started = now_ticks();
      task->status = search(slot, *task);
      task->finished = now_ticks();
      --live_;
      const bool lost = task->status.code() == StatusCode::unavailable;
      feed_->done(*task);
      // A lost source fails at once: the poller gets its turn to say so before the next task.
      if (lost) scheduler_.yield();
    }
  }

  Status search(Slot<Source>& slot, SearchTask& task) {
    task.found = 0;
    task.counts = {};
    task.coverage = 1;
    if (Status status = check_task(index_, task, options_.max_list); !status.ok()) return status;
    if (task.started > task.deadline) {
      return {StatusCode::deadline_exceeded, "the deadline passed before the search began"};
    }
    index_.quantizer().prepare(task.query, slot.prepared);
    slot.source.begin(task);
    graph::BeamParameters parameters;
    parameters.k = task.k;
    parameters.list = task.list;
    parameters.width = task.width;
    parameters.max_degree = index_.max_degree();
    parameters.node_count = static_cast<std::uint32_t>(index_.count());
    const CodeScorer scorer{index_, slot.prepared, task.query};
    const Status status =
        graph::beam_search(slot.source, scorer, index_.entries(), parameters, slot.scratch);
    task.counts.hops = slot.scratch.counts.hops;
    task.counts.estimates = slot.scratch.counts.estimates;
    task.counts.distances = slot.scratch.counts.distances;
    if (task.counts.lost > 0) task.coverage = slot.source.coverage();
    if (status.ok()) copy_results(slot.scratch.results, task);
    return status;
  }

  static void copy_results(const graph::CandidateList& results, SearchTask& task) {
    task.found = results.size();
    for (std::uint32_t i = 0; i < task.found; ++i) {
      task.ids[i] = results[i].id;
      task.distances[i] = results[i].distance;
    }
  }

  const GraphIndex& index_;
  const SearchCoreOptions options_;
  coroutines::Scheduler scheduler_;
  std::vector<std::unique_ptr<Slot<Source>>> slots_;
  std::vector<Slot<Source>*> idle_;
  TaskFeed* feed_ = nullptr;
  SearchTask* waiting_ = nullptr;  ///< taken from the feed for a slot that was just woken
  std::uint32_t live_ = 0;
  bool stopping_ = false;
  std::exception_ptr failure_;
};

class MappedCore : public Core<MappedNodeSource> {
 public:
  MappedCore(const GraphIndex& index, std::span<const std::byte> region,
             const SearchCoreOptions& options)
      : Core(index, options) {
    FARVEC_CHECK(region.size() >= index.locator().region_bytes());
    for (std::uint32_t s = 0; s < options.slots; ++s) {
      add_slot(MappedNodeSource(index.locator(), region.data(), scheduler(), options.device.get()));
    }
  }
};

class EndpointCore : public Core<EndpointNodeSource> {
 public:
  EndpointCore(const GraphIndex& index, std::unique_ptr<transport::Endpoint> endpoint,
               const SearchCoreOptions& options)
      : Core(index, options),
        dispatcher_(std::move(endpoint), scheduler(),
                    {options.slots, index.locator().geometry().max_record_bytes()}),
        cache_(options.cache_bytes, index.locator().geometry().max_record_bytes()) {
    scheduler().set_poller([this] { return poll(); });
    for (std::uint32_t s = 0; s < options.slots; ++s) {
      add_slot(EndpointNodeSource(index.locator(), dispatcher_, s, cache_));
    }
  }

  CoreStatistics statistics() const override {
    CoreStatistics result = Core::statistics();
    result.stalls = dispatcher_.stalls();
    result.late_completions = dispatcher_.late_completions();
    result.in_flight_reads = dispatcher_.in_flight();
    result.dram_bytes += dispatcher_.dram_bytes() + cache_.dram_bytes();
    return result;
  }

 private:
  bool poll() {
    if (dispatcher_.closed() && !given_up_) {
      given_up_ = true;  // once: the searches that still run end while run() winds up
      throw Error("reads from {} do not come back: the core gives up",
                  dispatcher_.endpoint().description());
    }
    return dispatcher_.poll();
  }

  ReadDispatcher dispatcher_;
  RecordCache cache_;
  bool given_up_ = false;
};

}  // namespace

SearchCore::SearchCore(const GraphIndex& index, std::span<const std::byte> region,
                       const SearchCoreOptions& options)
    : impl_(std::make_unique<MappedCore>(index, region, options)) {}

SearchCore::SearchCore(const GraphIndex& index, std::unique_ptr<transport::Endpoint> endpoint,
                       const SearchCoreOptions& options)
    : impl_(std::make_unique<EndpointCore>(index, std::move(endpoint), options)) {}

SearchCore::~SearchCore() = default;

void SearchCore::run(TaskFeed& feed) {
  impl_->run(feed);
}

CoreStatistics SearchCore::statistics() const {
  return impl_->statistics();
}

}  // namespace farvec::compute_node
