#include "compute_node/backends/paged_backend.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "base/error.h"
#include "compute_node/backends/paged_changes.h"
#include "compute_node/service/sampled_feed.h"
#include "ssd_baseline/paged/graph/hnsw_access.h"
#include "wal/durability_option.h"

namespace farvec::compute_node {
namespace {

/// Runs cores that search the graph and make its changes. It is never superseded.
class PagedSession final : public SearchSession {
 public:
  PagedSession(std::shared_ptr<paged::PagedHnsw> hnsw, const paged::PagedCoreOptions& options,
               std::shared_ptr<paged::WorkQueue> works)
      : hnsw_(std::move(hnsw)), cores_(*hnsw_, options, std::move(works)), index_(facts()) {}

  const ServedIndex& index() const override { return index_; }
  /// Where the graph's own page cannot be read, that is for the calls that need it to say: this
  /// then tells what was there when the session began.
  ServedIndex present() const override {
    try {
      return facts();
    } catch (const Error&) {
      return index_;
    }
  }
  void run_core(unsigned, search::TaskFeed& feed) override {
    const std::unique_ptr<search::SearchCore> core = cores_.make_core();
    SampledFeed sampled(feed, *core, *this);
    core->run(sampled);
  }
  bool alive() const override { return true; }
  TierCounters& counters() override { return counters_; }

 private:
  ServedIndex facts() const {
    const paged::HnswDescription now = hnsw_->describe();
    ServedIndex served;
    served.metric = now.config.metric;
    served.source_type = served.stored_type = now.config.type;
    served.dimension = now.config.dimension;
    served.count = now.state.vertices;
    served.degree = 2 * now.config.m;
    served.user_ids = true;
    served.layout = "paged";
    served.tier = "ssd";
    served.generation = 1;
    served.index_bytes = now.bytes();
    served.cache_bytes = std::uint64_t{hnsw_->store().frames()} * now.page_bytes;
    return served;
  }

  const std::shared_ptr<paged::PagedHnsw> hnsw_;
  const paged::PagedCores cores_;
  const ServedIndex index_;
  TierCounters counters_;
};

}  // namespace

PagedBackend::PagedBackend(const PagedSource& source, const search::SearchShape& largest)
    : source_(source), largest_(largest), works_(std::make_shared<paged::WorkQueue>()) {}
PagedBackend::~PagedBackend() = default;

std::unique_ptr<SearchSession> PagedBackend::open(std::chrono::milliseconds,
                                                  const std::atomic<bool>&) {
  if (hnsw_ == nullptr) {
    std::shared_ptr<paged::PagedHnsw> opened = paged::open_hnsw(
        source_.folder, {.buffer = source_.buffer,
                         .durability = source_.durability,
                         .changes_at_once = std::uint64_t{largest_.cores} * source_.change_slots});
    const paged::StoreRecovery& recovery = opened->store().recovery();
    spdlog::info("graph on pages '{}': {} vectors, {} records of the log in {:.2f} s",
                 source_.folder, opened->describe().state.vertices, recovery.records,
                 recovery.seconds);
    paged::HnswCrewOptions crew;
    crew.acknowledge_each = source_.durability == "commit";
    crew.served = works_;
    crew.if_there = paged::IfThere::replace;  // so that a call may be repeated
    const auto changes = std::make_shared<PagedChanges>(
        opened, std::move(crew), indexing::parse_order(source_.insert_order));
    const std::lock_guard lock(mutex_);
    hnsw_ = std::move(opened);
    changes_ = changes;
  }
  const paged::PagedCoreOptions cores{
      .reads = {paged::parse_read_mode(source_.page_reads), source_.min_complete},
      .slots = largest_.slots,
      .changers = source_.change_slots,
      .max_list = largest_.list,
      .thread = disk::DiskThread::owner};
  return std::make_unique<PagedSession>(hnsw_, cores, works_);
}

std::shared_ptr<ServedChanges> PagedBackend::changes() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

}  // namespace farvec::compute_node
