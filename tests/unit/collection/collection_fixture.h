// A collection beside a map that says what it should hold.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/random.h"
#include "collection/search/collection_part.h"
#include "collection/write/collection.h"
#include "distance/distance.h"
#include "tests/unit/search/task_list_feed.h"

namespace farvec::collection {

inline constexpr std::uint32_t kSmallDimension = 7;
inline constexpr std::uint32_t kAll = 1000;  ///< list that finds everything in a small collection
inline constexpr double kPatienceUs = 60e6;

inline layout::CollectionManifest small_shape(Metric metric = Metric::l2) {
  layout::CollectionManifest shape;
  shape.metric = metric;
  shape.source_type = ElementType::f32;
  shape.stored_type = ElementType::f32;
  shape.dimension = kSmallDimension;
  shape.options.memtable_rows = 50;
  shape.options.merge_fanout = 3;
  shape.options.degree = 12;
  shape.options.list = 24;
  shape.options.code_bits = 4;
  return shape;
}

/// Of segments that are clusters of about three vectors.
inline layout::CollectionManifest small_cluster_shape(
    layout::ClusterLayoutKind layout = layout::ClusterLayoutKind::grouped,
    Metric metric = Metric::l2) {
  layout::CollectionManifest shape = small_shape(metric);
  shape.options.kind = layout::IndexKind::cluster;
  shape.options.clusters.layout = layout;
  shape.options.clusters.cluster_bytes = 3 * kSmallDimension * sizeof(float);
  shape.options.clusters.replicas = 3;
  return shape;
}

/// Of segments in slotted pages.
inline layout::CollectionManifest small_page_shape(Metric metric = Metric::l2) {
  layout::CollectionManifest shape = small_shape(metric);
  shape.options.layout = layout::LayoutKind::slotted;
  return shape;
}

/// Of segments that have fewer bits than the rows, and second copies of these.
inline layout::CollectionManifest reduced(layout::CollectionManifest shape,
                                          const layout::ReductionWish& store) {
  shape.options.store = store;
  if (store.type == ElementType::b1) shape.options.code_bits.reset();
  return shape;
}

inline SegmentAccess small_segments(const char* tier = "dram") {
  SegmentAccess access = SegmentAccess::on(tier);
  access.shape.slots = 3;
  access.shape.k = 100;
  access.shape.list = kAll;
  access.shape.probe = kAll;
  access.threads = 1;
  return access;
}

inline CollectionAccess small_access(const char* tier = "dram") {
  CollectionAccess access;
  access.segments = small_segments(tier);
  access.durability = wal::Durability::none;
  return access;
}

struct Answer {
  std::vector<std::uint64_t> ids;
  std::vector<float> distances;
  search::QueryCounts counts;
};

/// With such a list, or so many clusters where the segments are of these.
inline search::SearchChoice choice_for(const View& view, std::uint32_t size) {
  const bool clusters =
      !view.segments.empty() && view.segments.front().segment->manifest().is_cluster();
  if (clusters) return search::ProbeChoice{.clusters = size, .list = kAll};
  return search::GraphChoice{.list = size};
}

/// How a view is searched.
struct Manner {
  const attributes::Condition* condition = nullptr;
  search::FilterPlan plan = search::FilterPlan::chosen;
  bool exact = false;
  const search::FurtherRows* further = nullptr;
};

/// One search of a view, as a core does it.
inline Answer search_view(const ViewPointer& view, const std::vector<float>& query, std::uint32_t k,
                          std::uint32_t size = kAll, const Manner& manner = {}) {
  Answer answer{std::vector<std::uint64_t>(k), std::vector<float>(k), {}};
  search::TaskListFeed feed(1, kPatienceUs);
  search::SearchTask& task = feed.tasks().front();
  task.request.query = reinterpret_cast<const std::byte*>(query.data());
  task.request.parameters = search::SearchParameters::make(k, choice_for(*view, size)).value();
  task.request.condition = manner.condition;
  task.request.further = manner.further;
  task.request.plan = manner.plan;
  task.request.exact = manner.exact;
  task.answer.ids = answer.ids.data();
  task.answer.distances = answer.distances.data();
  make_collection_core([&] { return view; }, 3)->run(feed);
  EXPECT_TRUE(task.answer.status.ok()) << task.answer.status.message();
  answer.ids.resize(task.answer.found);
  answer.distances.resize(task.answer.found);
  answer.counts = task.answer.counts;
  return answer;
}

/// What should be there.
using Rows = std::map<std::uint64_t, std::vector<float>>;

/// Of all rows, by comparing each.
inline std::vector<std::pair<float, std::uint64_t>> exact(const Rows& rows, Metric metric,
                                                          const std::vector<float>& query) {
  const auto kernel = distance::pair_kernel(metric, ElementType::f32, kSmallDimension);
  std::vector<std::pair<float, std::uint64_t>> all;
  for (const auto& [id, row] : rows) {
    all.emplace_back(kernel(query.data(), row.data(), kSmallDimension), id);
  }
  std::sort(all.begin(), all.end());
  return all;
}

inline std::vector<float> random_row(Random& random) {
  std::vector<float> row(kSmallDimension);
  for (float& x : row) x = static_cast<float>(random.uniform() * 2 - 1);
  return row;
}

/// The view has as many live rows, and searches find the nearest of them. All meet the condition.
inline void expect_holds(const ViewPointer& view, const Rows& rows, Random& random,
                         Metric metric = Metric::l2,
                         const attributes::Condition* condition = nullptr) {
  ASSERT_EQ(size_of(*view).live, rows.size());
  for (int i = 0; i < 3; ++i) {
    const std::vector<float> query = random_row(random);
    const auto expected = exact(rows, metric, query);
    const std::uint32_t k = 1 + static_cast<std::uint32_t>(random.below(40));
    const Answer answer = search_view(view, query, k, kAll, {condition});
    ASSERT_EQ(answer.ids.size(), std::min<std::size_t>(k, rows.size()));
    for (std::size_t r = 0; r < answer.ids.size(); ++r) {
      ASSERT_EQ(answer.ids[r], expected[r].second) << "result " << r;
      ASSERT_EQ(answer.distances[r], expected[r].first) << "result " << r;
    }
  }
}

/// Rows with their ids.
class Batch {
 public:
  void add(std::uint64_t id, const std::vector<float>& row) {
    ids_.push_back(id);
    data_.insert(data_.end(), row.begin(), row.end());
  }
  VectorView rows() const {
    return packed_view(data_.data(), ids_.size(), kSmallDimension, ElementType::f32);
  }
  const std::vector<std::uint64_t>& ids() const { return ids_; }

 private:
  std::vector<std::uint64_t> ids_;
  std::vector<float> data_;
};

inline changes::Patience within(double us) {
  return {.until = now_ticks() + us_to_ticks(us)};
}

/// How a change ended: ok, or as it was refused.
template <typename Change>
StatusCode code_of(const Change& change) {
  try {
    change();
    return StatusCode::ok;
  } catch (const StatusError& error) {
    return error.code;
  }
}

inline Receipt insert(Collection& collection, const Batch& batch) {
  Receipt receipt;
  collection.check({batch.rows(), batch.ids()});
  collection.insert({batch.rows(), batch.ids()}, within(kPatienceUs), receipt);
  return receipt;
}

inline Receipt erase(Collection& collection, const std::vector<std::uint64_t>& ids) {
  Receipt receipt;
  collection.erase(ids, within(kPatienceUs), receipt);
  return receipt;
}

}  // namespace farvec::collection
