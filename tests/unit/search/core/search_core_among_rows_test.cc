// Searches by cores of graphs among given rows alone, compared with all distances to these rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "search/core/search_core.h"
#include "tests/unit/search/cluster_fixture.h"
#include "tests/unit/search/graph_fixture.h"
#include "tests/unit/search/integer_graph.h"
#include "tests/unit/search/part_fixture.h"
#include "tests/unit/search/scripted_endpoint.h"
#include "transport/emulated/device.h"
#include "transport/emulated/emulated_endpoint.h"

namespace farvec::search {
namespace {

const std::size_t kSizes[] = {0,         1,  kWanted - 1, kWanted, kWanted + 1,   kRead - 1, kRead,
                              kRead + 1, 64, 65,          450,     kRowCount - 1, kRowCount};

class AmongRows : public testing::TestWithParam<std::tuple<Metric, LayoutKind>> {
 protected:
  using MakeCore = std::function<std::unique_ptr<SearchCore>()>;
  static constexpr std::size_t kQueries = 12;

  void SetUp() override {
    // So that no search has to learn where rows are.
    AmongFeed first(small_, 1, kSome);
    make_core(small_.index(), small_.region(), graph_core_options(1))->run(first);
    ASSERT_TRUE(first.tasks()[0].answer.status.ok());
  }

  /// By loads, by loads of a device, by reads, by few reads at a time, of a device.
  std::vector<MakeCore> makers() const {
    const auto rdma = std::make_shared<transport::Device>(transport::parse_device_model("rdma"));
    const auto cxl = std::make_shared<transport::Device>(transport::parse_device_model("cxl"));
    return {[this] { return make_core(small_.index(), small_.region(), graph_core_options(3)); },
            [this, cxl] {
              SearchCoreOptions options = graph_core_options(3);
              options.device = cxl;
              return make_core(small_.index(), small_.region(), options);
            },
            [this] { return make_core(small_.index(), small_.endpoint(), graph_core_options(3)); },
            [this] { return make_core(small_.index(), small_.endpoint(9), graph_core_options(3)); },
            [this, rdma] {
              return make_core(
                  small_.index(),
                  std::make_unique<transport::EmulatedEndpoint>(small_.endpoint(), rdma),
                  graph_core_options(3));
            }};
  }
  bool has_codes() const { return small_.graph().vertex_codes() != nullptr; }

  const std::vector<NodeId> kSome = rows_of(200);
  const IntegerGraph& small_ = built(GetParam());

 private:
  /// Each is built once.
  static const IntegerGraph& built(const std::tuple<Metric, LayoutKind>& shape) {
    static std::map<std::tuple<Metric, LayoutKind>, std::unique_ptr<IntegerGraph>> all;
    auto& one = all[shape];
    if (one == nullptr)
      one = std::make_unique<IntegerGraph>(std::get<0>(shape), std::get<1>(shape));
    return *one;
  }
};

INSTANTIATE_TEST_SUITE_P(Layouts, AmongRows,
                         testing::Combine(testing::Values(Metric::l2, Metric::inner_product,
                                                          Metric::cosine),
                                          testing::Values(LayoutKind::csr, LayoutKind::padded,
                                                          LayoutKind::inlined, LayoutKind::packed)),
                         [](const auto& shape) {
                           return std::string(to_string(std::get<0>(shape.param))) + "_" +
                                  std::string(layout::to_string(std::get<1>(shape.param)));
                         });

TEST_P(AmongRows, TheNearestOfThemAreFoundAndCounted) {
  for (const std::size_t size : kSizes) {
    const std::vector<NodeId> only = rows_of(size);
    for (const MakeCore& make : makers()) {
      AmongFeed feed(small_, kQueries, only);
      make()->run(feed);
      for (std::size_t q = 0; q < kQueries; ++q) {
        const auto& task = feed.tasks()[q];
        const std::vector<NodeId> read = small_.read(q, only);
        expect_nearest(task, small_.nearest(q, read));
        const QueryCounts& counts = task.answer.counts;
        EXPECT_EQ(counts.reads, read.size()) << size;
        EXPECT_EQ(counts.bytes, small_.bytes(read));
        EXPECT_EQ(counts.distances, read.size());
        EXPECT_EQ(counts.estimates, has_codes() && size > kRead ? size : 0);
        EXPECT_EQ(counts.hops + counts.lost + counts.cache_hits, 0u);
        EXPECT_EQ(task.answer.coverage, 1);
      }
    }
  }
}

TEST_P(AmongRows, RecordsInACacheAreNotRead) {
  SearchCoreOptions options = graph_core_options(2);
  options.cache_bytes = 48 << 10;
  const auto core = make_core(small_.index(), small_.endpoint(), options);
  std::uint64_t hits = 0;
  for (const std::size_t size : {std::size_t{30}, std::size_t{30}, std::size_t{300}}) {
    const std::vector<NodeId> only = rows_of(size);
    AmongFeed feed(small_, kQueries, only);
    core->run(feed);
    for (std::size_t q = 0; q < kQueries; ++q) {
      const std::vector<NodeId> read = small_.read(q, only);
      expect_nearest(feed.tasks()[q], small_.nearest(q, read));
      const QueryCounts& counts = feed.tasks()[q].answer.counts;
      EXPECT_EQ(counts.reads + counts.cache_hits, read.size());
      hits += counts.cache_hits;
    }
  }
  EXPECT_GT(hits, 0u);
}

TEST_P(AmongRows, RowsThatAreOutAreNotRead) {
  const RowSet out = RowSet().with(rows_of(450, 77));
  std::vector<NodeId> left;
  std::copy_if(kSome.begin(), kSome.end(), std::back_inserter(left),
               [&](NodeId row) { return !out.contains(row); });
  ASSERT_GT(left.size(), kRead);
  for (const MakeCore& make : makers()) {
    AmongFeed feed(small_, kQueries, kSome);
    for (auto& task : feed.tasks()) task.request.out = &out;
    make()->run(feed);
    for (std::size_t q = 0; q < kQueries; ++q) {
      const std::vector<NodeId> read = small_.read(q, left);
      expect_nearest(feed.tasks()[q], small_.nearest(q, read));
      EXPECT_EQ(feed.tasks()[q].answer.counts.reads, read.size());
      EXPECT_EQ(feed.tasks()[q].answer.counts.estimates, has_codes() ? left.size() : 0);
    }
  }
}

TEST_P(AmongRows, ASlotKeepsItsMemoryFromSearchToSearch) {
  for (const MakeCore& make : makers()) {
    const auto core = make();
    AmongFeed first(small_, kQueries, kSome);
    core->run(first);
    const std::size_t bytes = core->statistics().dram_bytes;
    AmongFeed more(small_, kQueries, kSome);
    core->run(more);
    EXPECT_EQ(core->statistics().dram_bytes, bytes);
  }
}

/// What the graph's own searches find does not depend on scans before them in the same slot.
TEST_P(AmongRows, SearchesOfAllRowsComeAfterThem) {
  AmongFeed alone(small_, kQueries, {});
  makers()[0]()->run(alone);
  for (const MakeCore& make : makers()) {
    AmongFeed mixed(small_, 2 * kQueries, kSome);
    for (std::size_t q = 0; q < kQueries; ++q) {
      mixed.tasks()[2 * q + 1].request = alone.tasks()[q].request;
    }
    make()->run(mixed);
    for (std::size_t q = 0; q < kQueries; ++q) {
      const auto& task = mixed.tasks()[2 * q + 1];
      expect_same_search(task, alone.tasks()[q]);
      EXPECT_EQ(task.answer.counts.reads, alone.tasks()[q].answer.counts.reads);
      EXPECT_GT(task.answer.counts.hops, 0u);
    }
  }
}

TEST_P(AmongRows, LinesAreThoseOfCodesOffsetsAndRecords) {
  const layout::GraphLocator& locator = small_.graph().locator();
  const bool has_table = layout::needs_offset_table(locator.geometry().kind);
  for (const MakeCore& make : makers()) {
    AmongFeed feed(small_, kQueries, kSome);
    AmongFeed plain(small_, kQueries, kSome);
    for (auto& task : feed.tasks()) task.request.count_lines = true;
    const auto core = make();
    core->run(feed);
    core->run(plain);
    for (std::size_t q = 0; q < kQueries; ++q) {
      const auto& task = feed.tasks()[q];
      expect_same_search(task, plain.tasks()[q]);
      const LineCounts& lines = task.answer.counts.lines;
      EXPECT_EQ(lines.visited, 0u);
      EXPECT_EQ(lines.offsets, has_table ? task.answer.counts.reads : 0);
      EXPECT_GE(lines.codes, task.answer.counts.estimates);
      EXPECT_LE(lines.codes, 2 * task.answer.counts.estimates);
      EXPECT_GE(lines.records * kCacheLineBytes, task.answer.counts.bytes);
      EXPECT_LE(lines.records * kCacheLineBytes,
                task.answer.counts.bytes + 2 * kCacheLineBytes * task.answer.counts.reads);
      EXPECT_EQ(plain.tasks()[q].answer.counts.lines.records, 0u);
    }
  }
}

TEST_P(AmongRows, RowsThatDoNotAscendOrDoNotExistAreRefused) {
  const std::vector<std::vector<NodeId>> wrong = {
      {5, 4}, {5, 5}, {3, kRowCount}, {kRowCount}, {kInvalidNode}};
  for (const auto& only : wrong) {
    AmongFeed feed(small_, 2, only);
    makers()[0]()->run(feed);
    EXPECT_EQ(feed.count_status(StatusCode::invalid_argument), 2u);
    EXPECT_EQ(feed.tasks()[0].answer.counts.reads, 0u);
  }
}

/// The deadline of a search that has begun.
TEST_P(AmongRows, ADeadlineThatHasPassedEndsIt) {
  const std::vector<NodeId> few = rows_of(3);
  for (const bool by_reads : {false, true}) {
    coroutines::Scheduler scheduler;
    const auto part =
        by_reads ? make_part(small_.index(), small_.endpoint(), graph_core_options(1), scheduler)
                 : make_part(small_.index(), small_.region(), graph_core_options(1), scheduler);
    scheduler.set_poller([&] { return part->poll(); });
    for (const auto* only : {&few, &kSome}) {
      AmongFeed feed(small_, 2, *only);
      SearchTask& late = feed.tasks()[0];
      SearchTask& early = feed.tasks()[1];
      ASSERT_TRUE(scheduler
                      .spawn([&] {
                        search_now(*part, 0, late, -1);
                        search_now(*part, 0, early);
                      })
                      .ok());
      scheduler.run();
      EXPECT_EQ(late.answer.status.code(), StatusCode::deadline_exceeded);
      EXPECT_EQ(late.answer.found, 0u);
      EXPECT_EQ(late.answer.counts.distances, 0u);
      expect_nearest(feed.tasks()[1], small_.nearest(1, small_.read(1, *only)));
    }
  }
}

/// Rounds that are posted in pieces, of which some are not taken.
TEST_P(AmongRows, APartialScanScoresOnlyWhatCame) {
  Script script;
  script.absent = [](std::size_t post) { return post % 7 == 5; };
  for (const bool partial : {true, false}) {
    AmongFeed feed(small_, 100, kSome);
    for (auto& task : feed.tasks()) task.request.partial = partial;
    make_core(small_.index(), std::make_unique<ScriptedEndpoint>(small_.endpoint(8), script),
              graph_core_options(2))
        ->run(feed);
    std::uint64_t lost = 0;
    for (std::size_t q = 0; q < 100; ++q) {
      const auto& task = feed.tasks()[q];
      const QueryCounts& counts = task.answer.counts;
      lost += counts.lost;
      if (!task.answer.status.ok()) {
        EXPECT_EQ(task.answer.status.code(), StatusCode::unavailable);
        EXPECT_EQ(task.answer.found, 0u);
        continue;
      }
      EXPECT_EQ(counts.distances, counts.reads - counts.lost);
      std::vector<NodeId> found(task.id_room, task.id_room + task.answer.found);
      const auto right = small_.nearest(q, found);
      expect_nearest(task, right);
      ASSERT_EQ(found.size(), std::min<std::size_t>(kWanted, counts.distances));
      // Those that are missing were lost.
      std::uint64_t missing = 0;
      for (const auto& near : small_.nearest(q, small_.read(q, kSome))) {
        missing += std::find(found.begin(), found.end(), near.id) == found.end() ? 1 : 0;
      }
      EXPECT_LE(missing, counts.lost);
    }
    EXPECT_EQ(lost > 0, partial);
    EXPECT_GT(feed.count_status(StatusCode::ok), 0u);
  }
}

TEST_P(AmongRows, BytesThatAreDamagedAreNotScored) {
  transport::FaultOptions faults;
  faults.flip_rate = 0.01;
  AmongFeed feed(small_, 100, kSome);
  make_core(small_.index(), std::make_unique<transport::FaultyEndpoint>(small_.endpoint(), faults),
            graph_core_options(2))
      ->run(feed);
  EXPECT_GT(feed.count_status(StatusCode::data_loss), 0u);
  EXPECT_GT(feed.count_status(StatusCode::ok), 0u);
  for (std::size_t q = 0; q < 100; ++q) {
    if (!feed.tasks()[q].answer.status.ok()) continue;
    expect_nearest(feed.tasks()[q], small_.nearest(q, small_.read(q, kSome)));
  }
}

TEST(AmongRowsOfPackedRecords, TheFirstSearchReadsAllRecordsToLearnWhereRowsAre) {
  const IntegerGraph small(Metric::l2, LayoutKind::packed);
  const std::size_t before = small.index().dram_bytes();
  const std::vector<NodeId> only = rows_of(20);
  AmongFeed feed(small, 2, only);
  make_core(small.index(), small.endpoint(), graph_core_options(1))->run(feed);
  EXPECT_EQ(feed.tasks()[0].answer.counts.reads, kRowCount + 20);
  EXPECT_EQ(feed.tasks()[0].answer.counts.distances, 20u);
  EXPECT_EQ(feed.tasks()[1].answer.counts.reads, 20u);
  for (std::size_t q = 0; q < 2; ++q) expect_nearest(feed.tasks()[q], small.nearest(q, only));
  EXPECT_GE(small.index().dram_bytes(), before + kRowCount * sizeof(NodeId));
}

TEST(AmongRowsOfPackedRecords, NoRowsAreFoundWithoutLearning) {
  const IntegerGraph small(Metric::l2, LayoutKind::packed);
  const std::vector<NodeId> none = rows_of(0);
  AmongFeed feed(small, 1, none);
  make_core(small.index(), small.region(), graph_core_options(1))->run(feed);
  expect_nearest(feed.tasks()[0], {});
  EXPECT_EQ(feed.tasks()[0].answer.counts.reads, 0u);
}

/// A search that learned some is followed by one that learns the rest.
TEST(AmongRowsOfPackedRecords, WhatWasLearnedBeforeAFailureStaysKnown) {
  const IntegerGraph small(Metric::l2, LayoutKind::packed);
  const std::vector<NodeId> only = rows_of(20);
  for (const bool partial : {true, false}) {
    transport::FaultOptions faults;
    faults.failing_read = 200;
    faults.error = StatusCode::unavailable;
    AmongFeed feed(small, 1, only);
    feed.tasks()[0].request.partial = partial;
    make_core(small.index(), std::make_unique<transport::FaultyEndpoint>(small.endpoint(), faults),
              graph_core_options(1))
        ->run(feed);
    EXPECT_EQ(feed.tasks()[0].answer.status.code(), StatusCode::unavailable);
    EXPECT_EQ(feed.tasks()[0].answer.found, 0u);
  }
  AmongFeed feed(small, 1, only);
  make_core(small.index(), small.region(), graph_core_options(1))->run(feed);
  expect_nearest(feed.tasks()[0], small.nearest(0, only));
  EXPECT_EQ(feed.tasks()[0].answer.counts.reads, kRowCount - 2 * 3 * graph::kMaxWidth + 20);
}

TEST(AmongRowsOfClusters, AreRefused) {
  const std::vector<NodeId> only = rows_of(5);
  for (const auto kind : layout::kClusterLayouts) {
    Feed feed(small_clusters(), 3, {.clusters = 5});
    for (auto& task : feed.tasks()) task.request.only = only;
    make_core(small_clusters().index(kind), small_clusters().region(kind), with_slots(2))
        ->run(feed);
    EXPECT_EQ(feed.count_status(StatusCode::invalid_argument), 3u);
  }
}

}  // namespace
}  // namespace farvec::search
