#include "tests/power/hnsw_life.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <span>
#include <thread>
#include <utility>

#include "base/error.h"
#include "ssd_baseline/paged/change/hnsw_vacuum.h"
#include "ssd_baseline/paged/change/hnsw_writer.h"
#include "ssd_baseline/paged/graph/check.h"
#include "tests/power/die.h"
#include "tests/unit/ssd_baseline/paged/stored_vertices.h"

namespace farvec::power {
namespace {

using namespace paged;

constexpr unsigned kCores = 2;
constexpr unsigned kFibersEach = 3;
/// Six vertices on a page, more pages than frames.
constexpr std::uint32_t kDimension = 300;
constexpr std::uint64_t kIdsEach = 300;
/// In the journal, of the making of the graph.
constexpr unsigned kMaker = 999;
constexpr Ticks kPatient = coroutines::kNoDeadline;

HnswConfig config() {
  HnswConfig config;
  config.dimension = kDimension;
  config.m = 4;
  config.ef_construction = 20;
  return config;
}

PageStoreOptions options(const std::filesystem::path& folder) {
  PageStoreOptions options;
  options.folder = folder;
  options.buffer_bytes = 128u * options.page_bytes;
  options.dirty_share = 0.3;  // so that pages are written all the while
  options.checkpoint_log_bytes = 256u << 10;
  options.log.segment_bytes = 128u << 10;
  return options;
}

/// Deletes the id when it is there, inserts it otherwise.
Change change_of(unsigned writer, std::uint64_t number, const Rows& now) {
  Random random = random_of(writer, number);
  Change change;
  change.ids = {writer * kIdsEach + random.below(kIdsEach)};
  change.inserts = !now.contains(change.ids.front());
  if (change.inserts) change.rows = {random_row(random, kDimension)};
  return change;
}

}  // namespace

HnswLife::HnswLife(std::filesystem::path folder, Journal& journal)
    : folder_(std::move(folder)),
      journal_(journal),
      script_{'h', "hnsw", kCores * kFibersEach, kIdsEach, change_of} {}

void HnswLife::make() {
  std::filesystem::remove_all(folder_);
  (void)PagedHnsw::create(options(folder_), config(), {});
  journal_.done(script_.index, kMaker, 0);
}

std::string HnswLife::check() {
  if (journal_.history(script_.index, kMaker).done.empty()) make();
  const auto start = std::chrono::steady_clock::now();
  hnsw_ = PagedHnsw::open(options(folder_));
  const std::chrono::duration<double, std::milli> opened = std::chrono::steady_clock::now() - start;
  const HnswCheckReport report = check_hnsw(*hnsw_);
  if (!report.ok()) throw Error("hnsw: {}", report.problems.front());
  begins_ = settle(script_, journal_, stored_rows());
  const StoreRecovery& recovery = hnsw_->store().recovery();
  return fmt::format("hnsw opened in {:.0f} ms ({} records, {} torn bytes, {} pages healed): {}",
                     opened.count(), recovery.records, recovery.torn_bytes, recovery.healed_pages,
                     words_of(begins_));
}

Rows HnswLife::stored_rows() {
  Rows rows;
  for (const auto& [id, vector] : testing::vertices_of(*hnsw_)) {
    std::vector<float>& row = rows[id];
    row.resize(kDimension);
    std::memcpy(row.data(), vector.data(), vector.size());
  }
  return rows;
}

void HnswLife::live() {
  std::thread other([this] { run_core(1); });
  run_core(0);
  other.join();
  throw Error("hnsw: its fibers have ended");
}

void HnswLife::run_core(unsigned core) {
  coroutines::Scheduler scheduler;
  PageFetcher fetcher(hnsw_->store(), scheduler);
  scheduler.set_poller([&] { return fetcher.poll(); });
  const auto spawn = [&](auto work) {
    if (!scheduler.spawn([work] { or_die(work); }).ok()) throw Error("hnsw: no fiber");
  };
  for (unsigned i = 0; i < kFibersEach; ++i) {
    spawn([this, &fetcher, writer = core * kFibersEach + i] { write(fetcher, writer); });
  }
  if (core == 0) spawn([this, &fetcher] { vacuum(fetcher); });
  scheduler.run();
}

void HnswLife::write(PageFetcher& fetcher, unsigned writer) {
  HnswWriter hand(*hnsw_, fetcher, {.reads = {.mode = ReadMode(writer % 3)}});
  Beginning& now = begins_[writer];
  for (;; ++now.next) {
    const Change change = script_.change(writer, now.next, now.rows);
    const auto id = static_cast<NodeId>(change.ids.front());
    journal_.begin(script_.index, writer, now.next);
    const auto end = change.inserts
                         ? hand.insert(id, std::as_bytes(std::span(change.rows.front())), kPatient)
                         : hand.mark_deleted(id, kPatient);
    if (!end.ok()) throw Error("hnsw: a change of {}: {}", id, end.status().message());
    const Status durable = fetcher.wait_durable(end.value(), kPatient);
    if (!durable.ok()) throw Error("hnsw: the log: {}", durable.message());
    journal_.done(script_.index, writer, now.next);
    change.apply(now.rows);
  }
}

void HnswLife::vacuum(PageFetcher& fetcher) {
  for (;;) {
    HnswVacuum vacuum(*hnsw_, fetcher);
    for (bool more = true; more; fetcher.scheduler().yield()) {
      const auto step = vacuum.step(kPatient);
      if (!step.ok()) throw Error("hnsw: a vacuum: {}", step.status().message());
      more = step.value();
    }
  }
}

}  // namespace farvec::power
