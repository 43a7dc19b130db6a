// Small graph indexes over rows of integers, searches among given rows of them, and what these must
// find.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "indexing/graph_recipe.h"
#include "layout/graph/record_reader.h"
#include "search/core/search_core.h"
#include "search/index/search_index.h"
#include "search/kinds/index_loader.h"
#include "tests/unit/search/task_list_feed.h"
#include "tests/unit/temporary_folder.h"
#include "transport/mapped/mapped_endpoint.h"

namespace farvec::search {

using layout::LayoutKind;

inline constexpr std::size_t kRowCount = 900;
inline constexpr std::uint32_t kOddDimension = 27;
inline constexpr std::uint32_t kWanted = 10;
inline constexpr std::uint32_t kRead = 40;  ///< the list

/// Small integers, so that every way to sum them up is exact. A third of the rows are copies of
/// rows before them.
inline dataset::VectorSet integers(std::uint64_t seed) {
  Random random(seed);
  dataset::VectorSet rows(kRowCount, kOddDimension, ElementType::f32);
  for (std::size_t row = 0; row < kRowCount; ++row) {
    auto* const values = reinterpret_cast<float*>(rows.mutable_row(row));
    for (std::uint32_t d = 0; d < kOddDimension; ++d) {
      values[d] = static_cast<float>(random.below(9)) - 4;
    }
    if (row % 3 != 2) continue;
    std::memcpy(values, rows.view().row(random.below(row)), rows.view().row_bytes());
  }
  return rows;
}

/// A graph over such rows.
class IntegerGraph {
 public:
  IntegerGraph(Metric metric, LayoutKind layout)
      : metric_(metric),
        source_(integers(5)),
        stored_(indexing::stored_copy(source_.view(), metric, 1)) {
    graph::VamanaOptions options;
    options.degree = 12;
    options.list = 30;
    options.quiet = true;
    const auto built = indexing::build_graph(
        {indexing::describe_source({"rows.fbin", "rows"}, source_.view(), metric), stored_.view()},
        options);
    const tests::TemporaryFolder folder;
    indexing::write_graph(folder.path() / "index", built, {layout, 3, true},
                          {.threads = 1, .quiet = true});
    const auto directory = layout::IndexDirectory::open(folder.path() / "index");
    const layout::LoadOptions load{.threads = 1, .quiet = true};
    region_ = directory.load_region(layout::kRecordsRegion, load);
    index_ = std::make_unique<SearchIndex>(load_search_index(directory, load));
    vertices_.resize(kRowCount);
    layout::RecordReader records(graph().locator(), region_.span());
    for (NodeId v = 0; v < kRowCount; ++v) {
      const NodeId row = records.read(v).row;
      vertices_[row == kInvalidNode ? v : row] = v;
    }
  }

  const SearchIndex& index() const { return *index_; }
  const GraphIndex& graph() const { return *index_->graph(); }
  std::span<const std::byte> region() const { return region_.span(); }
  const std::byte* query(std::size_t i) const { return stored_.view().row(i); }
  std::unique_ptr<transport::Endpoint> endpoint(std::uint32_t max_outstanding = 1024) const {
    transport::RegionSet set;
    set.push_back(transport::MappedRegion::borrow(region_.span()));
    return std::make_unique<transport::MappedEndpoint>(
        std::make_shared<const transport::RegionSet>(std::move(set)),
        transport::MappedOptions{.max_outstanding = max_outstanding});
  }

  /// The distance of two rows, as a schoolbook has it.
  double distance(std::size_t a, NodeId b) const {
    const auto* const x = reinterpret_cast<const float*>(source_.view().row(a));
    const auto* const y = reinterpret_cast<const float*>(source_.view().row(b));
    double dot = 0;
    double l2 = 0;
    for (std::uint32_t d = 0; d < kOddDimension; ++d) {
      dot += double{x[d]} * y[d];
      l2 += (double{x[d]} - y[d]) * (double{x[d]} - y[d]);
    }
    if (metric_ == Metric::l2) return l2;
    if (metric_ == Metric::inner_product) return -dot;
    return 1 - dot / std::sqrt(norm2(a) * norm2(b));
  }
  double norm2(std::size_t a) const {
    const auto* const x = reinterpret_cast<const float*>(source_.view().row(a));
    return std::inner_product(x, x + kOddDimension, x, 0.0);
  }

  /// The rows that are read for a query with these numbers: all, or the nearest by their codes.
  std::vector<NodeId> read(std::size_t query, std::span<const NodeId> only) const {
    if (graph().vertex_codes() == nullptr || only.size() <= kRead) {
      return {only.begin(), only.end()};
    }
    quantization::RabitqQuery prepared;
    graph().vertex_codes()->prepare(this->query(query), prepared);
    std::vector<std::tuple<float, NodeId, NodeId>> all;
    for (const NodeId row : only) {
      float estimate = 0;
      graph().vertex_codes()->estimate(prepared, graph().codes(), &vertices_[row], 1, &estimate);
      all.emplace_back(estimate, vertices_[row], row);
    }
    std::sort(all.begin(), all.end());
    std::vector<NodeId> rows;
    for (std::uint32_t i = 0; i < kRead; ++i) rows.push_back(std::get<2>(all[i]));
    return rows;
  }
  /// The nearest of them, ordered by the index's kernel, whose result for copies is the same.
  std::vector<graph::Neighbor> nearest(std::size_t query, std::span<const NodeId> rows) const {
    const auto kernel = distance::pair_kernel(metric_, ElementType::f32, kOddDimension);
    std::vector<graph::Neighbor> all;
    for (const NodeId row : rows) {
      all.push_back({row, kernel(this->query(query), stored_.view().row(row), kOddDimension)});
      EXPECT_NEAR(all.back().distance, distance(query, row), metric_ == Metric::cosine ? 1e-5 : 0);
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
    });
    all.resize(std::min<std::size_t>(all.size(), kWanted));
    return all;
  }
  NodeId vertex_of(NodeId row) const { return vertices_[row]; }
  std::uint64_t bytes(std::span<const NodeId> rows) const {
    std::uint64_t sum = 0;
    for (const NodeId row : rows) sum += graph().locator().locate(vertices_[row]).bytes;
    return sum;
  }

 private:
  const Metric metric_;
  const dataset::VectorSet source_;
  const dataset::VectorSet stored_;
  HugeBuffer region_;
  std::unique_ptr<SearchIndex> index_;
  std::vector<NodeId> vertices_;  ///< [row]
};

/// `count` of the rows, spread over all, ascending; never null.
inline std::vector<NodeId> rows_of(std::size_t count, std::uint64_t seed = 8) {
  Random random(seed);
  std::vector<NodeId> rows(kRowCount);
  std::iota(rows.begin(), rows.end(), NodeId{0});
  for (std::size_t i = 0; i < count; ++i) std::swap(rows[i], rows[i + random.below(kRowCount - i)]);
  rows.resize(count);
  std::sort(rows.begin(), rows.end());
  rows.reserve(1);
  return rows;
}

class AmongFeed : public TaskListFeed {
 public:
  AmongFeed(const IntegerGraph& graph, std::size_t count, std::span<const NodeId> only,
            double deadline_us = 5e6)
      : TaskListFeed(count, deadline_us) {
    for (std::size_t i = 0; i < count; ++i) {
      tasks()[i].request.query = graph.query(i);
      tasks()[i].request.parameters =
          SearchParameters::make(kWanted, GraphChoice{.list = kRead}).value();
      tasks()[i].request.only = only;
    }
  }
};

inline void expect_nearest(const TaskListFeed::Task& task,
                           const std::vector<graph::Neighbor>& expected) {
  ASSERT_TRUE(task.answer.status.ok()) << task.answer.status.message();
  ASSERT_EQ(task.answer.found, expected.size());
  for (std::uint32_t i = 0; i < task.answer.found; ++i) {
    EXPECT_EQ(task.id_room[i], expected[i].id) << i;
    EXPECT_EQ(task.distance_room[i], expected[i].distance) << i;
  }
}

}  // namespace farvec::search
