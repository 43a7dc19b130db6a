// A small graph index in memory, in any layout, and feeds of searches of it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/row_set.h"
#include "indexing/graph_recipe.h"
#include "search/core/search_core.h"
#include "search/kinds/index_loader.h"
#include "tests/unit/search/task_list_feed.h"
#include "tests/unit/temporary_folder.h"
#include "transport/faulty/faulty_endpoint.h"
#include "transport/mapped/mapped_endpoint.h"

namespace farvec::search {

inline constexpr std::uint32_t kGraphDimension = 24;
inline constexpr std::size_t kGraphCount = 2000;
inline constexpr std::uint32_t kGraphDegree = 16;

/// A graph index of seeded bytes, its region in memory.
class SmallGraph {
 public:
  explicit SmallGraph(layout::LayoutKind layout = layout::LayoutKind::csr,
                      bool record_checksum = false)
      : SmallGraph(indexing::GraphRecipe{layout, 4, record_checksum}) {}

  /// Of the rows that are not out alone.
  SmallGraph(layout::LayoutKind layout, const RowSet& out)
      : SmallGraph(indexing::GraphRecipe{layout, 4, false}, out) {}

  explicit SmallGraph(const indexing::GraphRecipe& recipe, const RowSet& out = {}) {
    Random random(3);
    for (std::size_t i = 0; i < kGraphCount * kGraphDimension; ++i) {
      rows_.push_back(static_cast<std::uint8_t>(random.below(64) + 3 * (i / kGraphDimension % 7)));
    }
    take_out(out);
    const VectorView view =
        packed_view(rows_.data(), rows_.size() / kGraphDimension, kGraphDimension, ElementType::u8);
    graph::VamanaOptions options;
    options.degree = kGraphDegree;
    options.list = 40;
    options.quiet = true;
    const indexing::BuiltGraph built = indexing::build_graph(
        {indexing::describe_source({"small.u8bin", "small"}, view, Metric::l2), view}, options);
    const tests::TemporaryFolder folder;
    const std::filesystem::path path = folder.path() / "index";
    indexing::write_graph(path, built, recipe, {.threads = 1, .quiet = true});
    const auto directory = layout::IndexDirectory::open(path);
    const layout::LoadOptions load{.threads = 1, .quiet = true};
    region_ = directory.load_region(layout::kRecordsRegion, load);
    index_ = std::make_unique<SearchIndex>(load_search_index(directory, load));
  }

  const SearchIndex& index() const { return *index_; }
  std::span<const std::byte> region() const { return region_.span(); }
  const std::byte* query(std::size_t i) const {
    return reinterpret_cast<const std::byte*>(rows_.data()) + i * kGraphDimension;
  }
  std::unique_ptr<transport::Endpoint> endpoint(std::uint32_t max_outstanding = 1024) const {
    transport::RegionSet set;
    set.push_back(transport::MappedRegion::borrow(region_.span()));
    return std::make_unique<transport::MappedEndpoint>(
        std::make_shared<const transport::RegionSet>(std::move(set)),
        transport::MappedOptions{.max_outstanding = max_outstanding});
  }

 private:
  void take_out(const RowSet& out) {
    std::vector<std::uint8_t> left;
    for (NodeId row = 0; row < kGraphCount; ++row) {
      const auto begin = rows_.begin() + static_cast<std::ptrdiff_t>(row * kGraphDimension);
      if (!out.contains(row)) left.insert(left.end(), begin, begin + kGraphDimension);
    }
    rows_ = std::move(left);
  }

  std::vector<std::uint8_t> rows_;
  HugeBuffer region_;
  std::unique_ptr<SearchIndex> index_;
};

inline SearchParameters graph_of_width(std::uint32_t width) {
  return SearchParameters::make(10, GraphChoice{.list = 30, .width = width}).value();
}

class GraphFeed : public TaskListFeed {
 public:
  GraphFeed(const SmallGraph& index, std::size_t count, double deadline_us = 5e6)
      : TaskListFeed(count, deadline_us) {
    for (std::size_t i = 0; i < count; ++i) {
      tasks()[i].request.query = index.query(i);
      tasks()[i].request.parameters = graph_of_width(1);
    }
  }
};

inline SearchCoreOptions graph_core_options(std::uint32_t slots) {
  SearchCoreOptions options;
  options.slots = slots;
  return options;
}

inline void expect_same_search(const GraphFeed::Task& a, const GraphFeed::Task& b) {
  ASSERT_TRUE(a.answer.status.ok() && b.answer.status.ok());
  ASSERT_EQ(a.answer.found, b.answer.found);
  EXPECT_TRUE(std::equal(a.id_room, a.id_room + a.answer.found, b.id_room));
  EXPECT_TRUE(std::equal(a.distance_room, a.distance_room + a.answer.found, b.distance_room));
  EXPECT_EQ(a.answer.counts.hops, b.answer.counts.hops);
  EXPECT_EQ(a.answer.counts.estimates, b.answer.counts.estimates);
  EXPECT_EQ(a.answer.counts.distances, b.answer.counts.distances);
}

/// 40 searches over reads with faults.
inline GraphFeed run_faulty(const SmallGraph& small, transport::FaultOptions faults,
                            double deadline_us = 5e6) {
  GraphFeed feed(small, 40, deadline_us);
  const auto core = make_core(small.index(),
                              std::make_unique<transport::FaultyEndpoint>(small.endpoint(), faults),
                              graph_core_options(4));
  core->run(feed);
  EXPECT_EQ(feed.done_count(), 40u) << "no search is lost";
  return feed;
}

}  // namespace farvec::search
