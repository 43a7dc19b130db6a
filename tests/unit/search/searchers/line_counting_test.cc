#include "search/searchers/line_counting.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>

#include "search/index/search_index.h"
#include "tests/unit/search/graph_fixture.h"
#include "tests/unit/search/task_list_feed.h"
#include "transport/forwarding_endpoint.h"

namespace farvec::search {
namespace {

constexpr std::size_t kSearches = 40;

/// Knows which lines of the region it was asked for.
class LineWatcher final : public transport::ForwardingEndpoint {
 public:
  LineWatcher(std::unique_ptr<transport::Endpoint> below, std::uint64_t& lines)
      : ForwardingEndpoint(std::move(below)), lines_(lines) {}

  Status post(std::span<const transport::ReadRequest> reads) override {
    for (const auto& read : reads) {
      std::set<std::uint64_t> touched;
      for (std::uint32_t i = 0; i < read.bytes; ++i) {
        touched.insert((read.offset + i) / kCacheLineBytes);
      }
      lines_ += touched.size();
    }
    return below().post(reads);
  }

 private:
  std::uint64_t& lines_;
};

/// What all searches of rows of the index counted together.
QueryCounts counts_of(const SmallGraph& small, SearchCore& core, bool count_lines = true) {
  TaskListFeed feed(kSearches, 5e6);
  for (std::size_t i = 0; i < kSearches; ++i) {
    auto& task = feed.tasks()[i];
    task.request.query = small.query(i);
    task.request.parameters =
        SearchParameters::make(10, GraphChoice{.list = 30, .width = 2}).value();
    task.request.count_lines = count_lines;
  }
  core.run(feed);
  QueryCounts sum;
  for (const auto& task : feed.tasks()) {
    EXPECT_TRUE(task.answer.status.ok());
    sum += task.answer.counts;
  }
  return sum;
}

QueryCounts counts_of(const SmallGraph& small, bool count_lines = true) {
  return counts_of(small, *make_core(small.index(), small.region(), graph_core_options(3)),
                   count_lines);
}

void expect_same(const LineCounts& a, const LineCounts& b) {
  EXPECT_EQ(a.codes, b.codes);
  EXPECT_EQ(a.offsets, b.offsets);
  EXPECT_EQ(a.visited, b.visited);
  EXPECT_EQ(a.records, b.records);
}

const GraphIndex& graph_of(const SmallGraph& small) {
  return *small.index().graph();
}

TEST(LineCounting, ChangesNothingThatASearchDoes) {
  for (const auto layout :
       {layout::LayoutKind::csr, layout::LayoutKind::inlined, layout::LayoutKind::packed}) {
    const SmallGraph small(indexing::GraphRecipe{.layout = layout, .code_bits = 3});
    const QueryCounts counted = counts_of(small);
    const QueryCounts plain = counts_of(small, false);
    EXPECT_EQ(counted.hops, plain.hops);
    EXPECT_EQ(counted.reads, plain.reads);
    EXPECT_EQ(counted.estimates, plain.estimates);
    EXPECT_EQ(counted.bytes, plain.bytes);
    expect_same(plain.lines, {});
  }
}

TEST(LineCounting, RecordsAreTheLinesThatATierIsAskedFor) {
  for (const auto layout : {layout::LayoutKind::csr, layout::LayoutKind::padded,
                            layout::LayoutKind::inlined, layout::LayoutKind::packed}) {
    const SmallGraph small(indexing::GraphRecipe{.layout = layout, .code_bits = 2});
    std::uint64_t lines = 0;
    const auto core =
        make_core(small.index(), std::make_unique<LineWatcher>(small.endpoint(), lines),
                  graph_core_options(4));
    const QueryCounts far = counts_of(small, *core);
    EXPECT_EQ(far.lines.records, lines);
    expect_same(far.lines, counts_of(small).lines);
  }
}

TEST(LineCounting, TheVisitedSetIsAskedForEveryNeighbour) {
  const SmallGraph small;
  const QueryCounts counts = counts_of(small);
  const std::uint64_t neighbours = (counts.bytes - counts.reads * kGraphDimension) / sizeof(NodeId);
  const std::uint64_t entries = kSearches * graph_of(small).entries().size();
  EXPECT_EQ(counts.lines.visited, neighbours + entries);
  EXPECT_GE(counts.lines.offsets, counts.reads);
  EXPECT_LE(counts.lines.offsets, counts.estimates);
}

/// Records of 16 bytes never cross a line; of 20, some do.
TEST(LineCounting, CodesAreCountedWhereTheyLie) {
  const SmallGraph whole(indexing::GraphRecipe{.code_bits = 4});
  ASSERT_EQ(graph_of(whole).vertex_codes()->record_bytes(), 16u);
  const QueryCounts counts = counts_of(whole);
  EXPECT_EQ(counts.lines.codes, counts.estimates);

  const SmallGraph crossing(indexing::GraphRecipe{.code_bits = 5});
  const std::size_t bytes = graph_of(crossing).vertex_codes()->record_bytes();
  ASSERT_NE(kCacheLineBytes % bytes, 0u);
  const QueryCounts more = counts_of(crossing);
  EXPECT_GT(more.lines.codes, more.estimates);
  EXPECT_LT(more.lines.codes, 2 * more.estimates);
}

TEST(LineCounting, EveryEstimateCountsTheLinesOfItsCode) {
  const SmallGraph small(indexing::GraphRecipe{.code_bits = 5});
  const GraphIndex& index = graph_of(small);
  quantization::RabitqQuery prepared;
  VertexCodeScorer::prepare(index, small.query(0), prepared);
  const VertexCodeScorer scorer{index, prepared, small.query(0)};
  LineCounts lines;
  const auto counting = counting_lines(scorer, {lines});
  const std::size_t bytes = index.vertex_codes()->record_bytes();
  std::set<std::uint64_t> touched;
  const NodeId ids[] = {0, 1, 7, 1999};
  for (const NodeId id : ids) {
    for (std::size_t i = 0; i < bytes; ++i)
      touched.insert((id * bytes + i) / kCacheLineBytes * 4096 + id);
  }
  float out[4];
  counting.estimate(ids, 4, out);
  EXPECT_EQ(lines.codes, touched.size());
  counting.prefetch(5);
  EXPECT_EQ(lines.visited, 1u);
}

TEST(LineCounting, InlineRecordsAreWholeLinesAndNeedNoOffsets) {
  const SmallGraph small(
      indexing::GraphRecipe{.layout = layout::LayoutKind::inlined, .code_bits = 1});
  const QueryCounts counts = counts_of(small);
  EXPECT_EQ(counts.lines.records, counts.bytes / kCacheLineBytes);
  EXPECT_EQ(counts.lines.offsets, 0u);
  const GraphIndex& index = graph_of(small);
  std::uint64_t entry_lines = 0;
  for (std::size_t i = 0; i < index.entries().size(); ++i) {
    entry_lines += lines_of(i * kGraphDimension, kGraphDimension);
  }
  EXPECT_EQ(counts.lines.codes, kSearches * entry_lines);
  const std::uint64_t certain = counts.reads + kSearches * index.entries().size();
  EXPECT_GT(counts.lines.visited, certain);
  EXPECT_LE(counts.lines.visited, certain + counts.estimates);
}

}  // namespace
}  // namespace farvec::search
