// Searches by cores in every layout of a graph that has records.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "coroutines/stack_pool.h"
#include "search/core/index_kinds.h"
#include "search/core/search_core.h"
#include "tests/unit/search/graph_fixture.h"
#include "transport/emulated/device.h"
#include "transport/emulated/emulated_endpoint.h"

namespace farvec::search {
namespace {

/// In every layout whose records a core reads.
class SearchCoreLayouts : public testing::TestWithParam<layout::LayoutKind> {};

INSTANTIATE_TEST_SUITE_P(Layouts, SearchCoreLayouts,
                         testing::Values(layout::LayoutKind::csr, layout::LayoutKind::padded,
                                         layout::LayoutKind::inlined, layout::LayoutKind::packed),
                         [](const auto& kind) { return std::string(to_string(kind.param)); });

TEST_P(SearchCoreLayouts, EveryTierAndNumberOfSlotsGivesTheSameAnswersAndCounts) {
  const SmallGraph small(GetParam());
  GraphFeed reference(small, 60);
  make_core(small.index(), small.region(), graph_core_options(1))->run(reference);
  EXPECT_EQ(reference.tasks()[7].id_room[0], 7u) << "a row's nearest neighbour is itself";

  auto device = std::make_shared<transport::Device>(transport::parse_device_model("rdma"));
  auto near = std::make_shared<transport::Device>(transport::parse_device_model("cxl"));
  const std::vector<std::function<std::unique_ptr<SearchCore>()>> makers = {
      [&] { return make_core(small.index(), small.region(), graph_core_options(8)); },
      [&] { return make_core(small.index(), small.endpoint(), graph_core_options(5)); },
      [&] {
        SearchCoreOptions options = graph_core_options(4);
        options.device = near;
        return make_core(small.index(), small.region(), options);
      },
      [&] {
        return make_core(small.index(),
                         std::make_unique<transport::EmulatedEndpoint>(small.endpoint(), device),
                         graph_core_options(16));
      },
      [&] {
        SearchCoreOptions options = graph_core_options(3);
        options.cache_bytes = 64 << 10;
        return make_core(small.index(), small.endpoint(), options);
      }};
  for (const auto& make : makers) {
    GraphFeed feed(small, 60);
    make()->run(feed);
    EXPECT_EQ(feed.done_count(), 60u);
    for (std::size_t i = 0; i < 60; ++i) expect_same_search(feed.tasks()[i], reference.tasks()[i]);
  }
}

/// While one fiber waits for room to post its reads, others put their records into the cache.
TEST_P(SearchCoreLayouts, ASmallCacheUnderAFullEndpointChangesNoAnswer) {
  const SmallGraph index(GetParam());
  GraphFeed feed(index, 300);
  GraphFeed expected(index, 300);
  for (GraphFeed* each : {&feed, &expected}) {
    for (auto& task : each->tasks()) task.request.parameters = graph_of_width(8);
  }
  make_core(index.index(), index.region(), graph_core_options(1))->run(expected);
  SearchCoreOptions options = graph_core_options(32);
  options.cache_bytes = 16 * 1024;
  const auto core = make_core(index.index(), index.endpoint(8), options);
  core->run(feed);
  EXPECT_GT(core->statistics().stalls, 0u);
  std::uint64_t hits = 0;
  for (std::size_t i = 0; i < feed.tasks().size(); ++i) {
    ASSERT_TRUE(feed.tasks()[i].answer.status.ok()) << feed.tasks()[i].answer.status.message();
    // Cached records are visited first, so that estimates may come in another order and number.
    EXPECT_TRUE(std::equal(feed.tasks()[i].id_room,
                           feed.tasks()[i].id_room + feed.tasks()[i].answer.found,
                           expected.tasks()[i].id_room));
    hits += feed.tasks()[i].answer.counts.cache_hits;
  }
  EXPECT_GT(hits, 0u);
}

TEST_P(SearchCoreLayouts, CountsAddUp) {
  const SmallGraph small(GetParam());
  const GraphIndex& graph = *small.index().graph();
  // Codes in records estimate nothing before the first is read: entries are compared themselves.
  const std::size_t entries = graph.neighbor_codes() != nullptr ? graph.entries().size() : 0;
  const std::uint32_t record_bytes = graph.locator().geometry().max_record_bytes();
  GraphFeed feed(small, 20);
  for (auto& task : feed.tasks()) task.request.parameters = graph_of_width(4);
  SearchCoreOptions options = graph_core_options(2);
  options.cache_bytes = 100 << 10;
  const auto core = make_core(small.index(), small.endpoint(), options);
  core->run(feed);
  std::uint64_t hits = 0;
  for (const auto& task : feed.tasks()) {
    EXPECT_EQ(task.answer.counts.reads + task.answer.counts.cache_hits + entries,
              task.answer.counts.distances);
    EXPECT_LE(task.answer.counts.hops, task.answer.counts.distances);
    EXPECT_LE(task.answer.counts.bytes, task.answer.counts.reads * record_bytes);
    hits += task.answer.counts.cache_hits;
  }
  EXPECT_GT(hits, 0u);
  EXPECT_EQ(core->statistics().in_flight_reads, 0u);
  EXPECT_EQ(core->statistics().live_searches, 0u);
}

TEST_P(SearchCoreLayouts, FlippedBitIsCaughtByTheRecordChecksum) {
  const SmallGraph small(GetParam(), true);
  GraphFeed reference(small, 40);
  make_core(small.index(), small.region(), graph_core_options(1))->run(reference);
  transport::FaultOptions faults;
  faults.flip_rate = 0.01;
  GraphFeed feed = run_faulty(small, faults);
  EXPECT_GT(feed.count_status(StatusCode::data_loss), 0u);
  for (std::size_t i = 0; i < 40; ++i) {
    if (!feed.tasks()[i].answer.status.ok()) continue;
    expect_same_search(feed.tasks()[i], reference.tasks()[i]);
  }
}

TEST_P(SearchCoreLayouts, TheCacheKeepsNoDamagedRecord) {
  const SmallGraph small(GetParam(), true);
  GraphFeed reference(small, 40);
  make_core(small.index(), small.region(), graph_core_options(1))->run(reference);
  transport::FaultOptions faults;
  faults.flip_rate = 0.01;
  SearchCoreOptions options = graph_core_options(4);
  options.cache_bytes = std::size_t{64} << 20;  // for all records
  const auto core =
      make_core(small.index(),
                std::make_unique<transport::FaultyEndpoint>(small.endpoint(), faults), options);
  std::size_t damaged = 0;
  for (int time = 0; time < 8; ++time) {
    GraphFeed feed(small, 40);
    core->run(feed);
    damaged += feed.count_status(StatusCode::data_loss);
    if (time < 7) continue;
    for (std::size_t i = 0; i < 40; ++i) expect_same_search(feed.tasks()[i], reference.tasks()[i]);
  }
  EXPECT_GT(damaged, 0u);
}

TEST_P(SearchCoreLayouts, SearchesTakeNoMoreThanIsPlanned) {
  const SmallGraph small(GetParam());
  const SearchShape shape{.slots = 4, .list = 400};
  GraphFeed feed(small, 20);
  for (auto& task : feed.tasks()) {
    task.request.parameters =
        SearchParameters::make(10, GraphChoice{.list = 400, .width = 1}).value();
  }
  SearchCoreOptions options = graph_core_options(shape.slots);
  options.max_list = shape.list;
  const auto core = make_core(small.index(), small.region(), options);
  core->run(feed);
  EXPECT_EQ(feed.count_status(StatusCode::ok), 20u);
  const CoreNeeds needs = core_needs(*small.index().graph(), shape);
  // The core does not count its stacks.
  EXPECT_LE(core->statistics().dram_bytes,
            shape.slots * (needs.search_bytes - coroutines::kStackBytes));
}

TEST(SearchCoreInline, KeepsNothingInDramButTheVectorsOfTheEntries) {
  const SmallGraph small(layout::LayoutKind::inlined);
  const GraphIndex& graph = *small.index().graph();
  EXPECT_EQ(graph.vertex_codes(), nullptr);
  EXPECT_EQ(graph.location_bytes(), 0u);
  const std::size_t head = layout::kRegionHeaderBytes +
                           layout::CodesHeader{.dimension = kGraphDimension}.records_offset();
  EXPECT_EQ(graph.dram_bytes(), head + graph.entries().size() * kGraphDimension);
  for (std::size_t i = 0; i < graph.entries().size(); ++i) {
    EXPECT_EQ(std::memcmp(graph.entry_vector(i), small.query(graph.entries()[i]), kGraphDimension),
              0);
  }
}

/// Several estimates of a vertex, forgotten between them, take places in a list of as many entries
/// as are wanted.
TEST(SearchCoreInline, AShortListFindsAllThatAreWanted) {
  const SmallGraph small(indexing::GraphRecipe{layout::LayoutKind::inlined, 1, false});
  GraphFeed feed(small, kGraphCount);
  for (auto& task : feed.tasks()) {
    task.request.parameters =
        SearchParameters::make(10, GraphChoice{.list = 10, .width = 1}).value();
  }
  make_core(small.index(), small.region(), graph_core_options(4))->run(feed);
  for (std::size_t i = 0; i < kGraphCount; ++i) {
    const GraphFeed::Task& task = feed.tasks()[i];
    ASSERT_TRUE(task.answer.status.ok());
    EXPECT_EQ(task.answer.found, 10u) << i;
    EXPECT_EQ(std::set<NodeId>(task.answer.ids, task.answer.ids + task.answer.found).size(),
              task.answer.found)
        << i;
  }
}

TEST(SearchCoreInline, AVertexThatDoesNotExistIsDataLoss) {
  const SmallGraph small(layout::LayoutKind::inlined);
  const layout::GraphLocator& locator = small.index().graph()->locator();
  HugeBuffer damaged(small.region().size());
  std::memcpy(damaged.data(), small.region().data(), damaged.size());
  const std::size_t ids = locator.geometry().code_bytes + kGraphDimension;
  for (NodeId id = 0; id < kGraphCount; ++id) {
    store_unaligned(damaged.data() + locator.locate(id).offset + ids,
                    static_cast<NodeId>(kGraphCount));
  }
  GraphFeed feed(small, 20);
  make_core(small.index(), damaged.span(), graph_core_options(2))->run(feed);
  EXPECT_EQ(feed.count_status(StatusCode::data_loss), 20u);
}

}  // namespace
}  // namespace farvec::search
