// Inserts, deletes and a vacuum of many fibers, and a power cut at any moment.
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <numeric>

#include "base/parallel.h"
#include "ssd_baseline/paged/build/colocation.h"
#include "ssd_baseline/paged/graph/hnsw_loader.h"
#include "ssd_baseline/paged/placement/partition_map.h"
#include "ssd_baseline/paged/placement/partition_placement.h"
#include "tests/unit/ssd_baseline/paged/hnsw_fixture.h"
#include "tests/unit/ssd_baseline/paged/store/mortal_store.h"
#include "tests/unit/ssd_baseline/paged/stored_vertices.h"

namespace farvec::paged {
namespace {

using namespace testing;

constexpr unsigned kThreads = 2;
constexpr unsigned kFibersEach = 3;
constexpr NodeId kIdsEach = 25;   ///< of a fiber, its own
constexpr int kChangesEach = 40;  ///< of a fiber, in a life
constexpr std::uint64_t kRows = 300;
constexpr NodeId kBuilt = 80;  ///< rows of the graph with partitions
constexpr NodeId kFirstBuilt = 1000;

/// An insert, or a delete: no vector.
struct Change {
  wal::Position position = 0;
  NodeId id = 0;
  std::vector<std::byte> vector;
};

void change_vertices(const Change& change, Vertices& vertices) {
  if (change.vector.empty()) {
    vertices.erase(change.id);
  } else {
    vertices[change.id] = change.vector;
  }
}

/// What a life has done to the graph; of all fibers.
struct Diary {
  void note(Change change) {
    const std::lock_guard lock(mutex);
    changes.push_back(std::move(change));
  }
  void acknowledge(wal::Position position) {
    const std::lock_guard lock(mutex);
    acknowledged = std::max(acknowledged, position);
  }
  std::size_t size() {
    const std::lock_guard lock(mutex);
    return changes.size();
  }

  std::mutex mutex;
  std::vector<Change> changes;
  wal::Position acknowledged = 0;  ///< all before it
};

class HnswPowerCut : public ::testing::Test {
 protected:
  PageStoreOptions options() const {
    PageStoreOptions options;
    options.folder = folder_;
    options.page_bytes = 4096;
    options.buffer_bytes = 64u * 4096;  // fewer than there are pages
    options.checkpoint_log_bytes = 128u << 10;
    options.log.segment_bytes = 64u << 10;
    return options;
  }

  /// An empty graph on a disk and a log of its own.
  void make(std::uint64_t seed) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    parts_ = std::make_shared<MortalParts>(folder_, seed);
    const auto store = create_store(options(), parts_);
    HnswLoader(*store, config_, {}).run();
  }
  /// A graph whose vertices are in partitions, and share pages by fours.
  void make_partitioned(std::uint64_t seed) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    parts_ = std::make_shared<MortalParts>(folder_, seed);
    std::vector<NodeId> ids(kBuilt);
    std::iota(ids.begin(), ids.end(), kFirstBuilt);
    const auto graph = build(rows_, kBuilt, config_, ids, options().page_bytes);
    const layout::HnswShape shape{options().page_bytes, config_.dimension, config_.type, config_.m,
                                  hnsw_level_rule(config_, options().page_bytes).max_level};
    const Colocation places(graph, shape, {.partition_nodes = 4});
    auto store = create_store(options(), parts_);
    HnswLoader(*store, config_, {rows_.view(kBuilt), ids, &graph, places.order()}).run();
    const auto hnsw = PagedHnsw::adopt(std::move(store), folder_);
    create_partition_map(*hnsw, std::vector<bool>(places.plan().count, false));
  }
  std::unique_ptr<PagedHnsw> open() {
    return PagedHnsw::adopt(open_store(options(), parts_), folder_);
  }

  /// Of one fiber: inserts and deletes of its own ids, some of them acknowledged, until the power
  /// goes.
  void write(PagedHnsw& hnsw, PageFetcher& fetcher, const Vertices& before, unsigned number) {
    PartitionPlacement placement(hnsw, fetcher);
    HnswWriter writer(hnsw, fetcher,
                      {.reads = {.mode = ReadMode(number % 3)}, .placement = &placement});
    Random random(seed_ * 1000 + number);
    Vertices mine = before;
    for (int i = 0; i < kChangesEach; ++i) {
      Change change;
      change.id = number * kIdsEach + static_cast<NodeId>(random.below(kIdsEach));
      const bool gone = mine.contains(change.id);
      const auto row = rows_.row(random.below(kRows));
      const auto end =
          gone ? writer.mark_deleted(change.id, kPatient) : writer.insert(change.id, row, kPatient);
      if (!end.ok()) {
        EXPECT_TRUE(parts_->off()) << end.status().message();
        return;
      }
      change.position = end.value();
      if (!gone) change.vector.assign(row.begin(), row.end());
      change_vertices(change, mine);
      diary_->note(std::move(change));
      if (diary_->size() >= cut_at_) parts_->cut();
      if (random.below(3) > 0) continue;
      if (!fetcher.wait_durable(end.value(), kPatient).ok()) return;
      diary_->acknowledge(end.value());
    }
  }

  void vacuum(PagedHnsw& hnsw, PageFetcher& fetcher) {
    HnswVacuum vacuum(hnsw, fetcher);
    for (bool more = true; more;) {
      const auto step = vacuum.step(kPatient);
      EXPECT_TRUE(step.ok() || parts_->off()) << step.status().message();
      more = step.ok() && step.value();
      fetcher.scheduler().yield();
    }
  }

  void live(PagedHnsw& hnsw, const Vertices& before) {
    parallel_for(kThreads, 1, kThreads, [&](std::size_t thread, std::size_t, unsigned) {
      coroutines::Scheduler scheduler;
      PageFetcher fetcher(hnsw.store(), scheduler);
      scheduler.set_poller([&] { return fetcher.poll(); });
      for (unsigned i = 0; i < kFibersEach; ++i) {
        const auto number = static_cast<unsigned>(thread) * kFibersEach + i;
        ASSERT_TRUE(scheduler.spawn([&, number] { write(hnsw, fetcher, before, number); }).ok());
      }
      if (thread == 0) {
        ASSERT_TRUE(scheduler.spawn([&] { vacuum(hnsw, fetcher); }).ok());
      }
      scheduler.run();
    });
    parts_->off();
  }

  /// What is there is what was before and the changes in the order of the log, up to one at or
  /// behind the last that was acknowledged.
  void expect_changes(PagedHnsw& hnsw, Vertices& known) {
    const HnswCheckReport report = check_hnsw(hnsw);
    for (const auto& problem : report.problems) ADD_FAILURE() << problem;
    const Vertices found = vertices_of(hnsw);
    auto& changes = diary_->changes;
    std::ranges::sort(changes, {}, &Change::position);
    auto next = changes.begin();
    for (; next != changes.end() && next->position <= diary_->acknowledged; ++next) {
      change_vertices(*next, known);
    }
    for (; next != changes.end() && found != known; ++next) change_vertices(*next, known);
    ASSERT_TRUE(found == known) << changes.size() << " changes, acknowledged up to "
                                << diary_->acknowledged;
    ASSERT_FALSE(HasFailure());
  }

  /// One life and the look at what it has left.
  void live_and_die(Vertices& known, Random& random) {
    diary_ = std::make_unique<Diary>();
    cut_at_ = last_change(random, kThreads * kFibersEach * kChangesEach);
    parts_->cut_after(random.below(400), 20 + random.below(400));
    try {
      const auto hnsw = open();
      live(*hnsw, known);
    } catch (const Error&) {  // the power went in the recovery
      EXPECT_TRUE(parts_->off());
    }
    cuts_ += parts_->off() ? 1 : 0;
    parts_->power_on();
    const auto hnsw = open();
    const StoreRecovery& recovery = hnsw->store().recovery();
    healed_ += recovery.healed_pages;
    records_ += recovery.records;
    most_insert_pages_ = std::max(most_insert_pages_, hnsw->describe().state.insert_pages);
    ASSERT_NO_FATAL_FAILURE(expect_changes(*hnsw, known));
  }

  tests::TemporaryFolder temporary_{memory_folder()};
  std::filesystem::path folder_ = temporary_.path() / "graph";
  HnswConfig config_ = small_config(150, 4);
  Rows rows_{kRows, config_};
  std::shared_ptr<MortalParts> parts_;
  std::unique_ptr<Diary> diary_;
  std::uint64_t seed_ = 0;
  std::size_t cut_at_ = 0;
  int cuts_ = 0;
  std::uint64_t healed_ = 0;
  std::uint64_t records_ = 0;
  std::uint32_t most_insert_pages_ = 0;
};

TEST_F(HnswPowerCut, WhatWasAcknowledgedIsThereAndNothingByHalves) {
  config_.ef_construction = 20;
  for (std::uint64_t seed = 1; seed <= kPowerCutSeeds; ++seed) {
    make(seed);
    Random random(seed);
    Vertices known;
    for (int life = 0; life < kLives; ++life) {
      seed_ = 10 * seed + static_cast<std::uint64_t>(life);
      ASSERT_NO_FATAL_FAILURE(live_and_die(known, random)) << "seed " << seed << "/" << life;
    }
  }
  EXPECT_GT(healed_, 0u);
  EXPECT_GT(records_, 0u);
  RecordProperty("cuts", cuts_);
  RecordProperty("healed", static_cast<int>(healed_));
  RecordProperty("records", static_cast<int>(records_));
}

/// Partitions get insert pages, and the vacuum takes some of them back.
TEST_F(HnswPowerCut, PagesOfPartitionsAreGivenAndTakenWhole) {
  config_.ef_construction = 20;
  config_.most_insert_pages = 1'000'000;
  for (std::uint64_t seed = 1; seed <= kPowerCutSeeds; ++seed) {
    make_partitioned(seed);
    Random random(seed);
    Vertices known;
    for (NodeId i = 0; i < kBuilt; ++i) {
      known[kFirstBuilt + i].assign(rows_.row(i).begin(), rows_.row(i).end());
    }
    for (int life = 0; life < kLives; ++life) {
      seed_ = 10 * seed + static_cast<std::uint64_t>(life);
      ASSERT_NO_FATAL_FAILURE(live_and_die(known, random)) << "seed " << seed << "/" << life;
    }
  }
  EXPECT_GT(most_insert_pages_, 0u);
  EXPECT_GT(records_, 0u);
}

}  // namespace
}  // namespace farvec::paged
