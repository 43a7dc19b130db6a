// A small cluster index in every layout, searches of it, and what they must find.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/row_set.h"
#include "indexing/cluster_recipe.h"
#include "search/core/search_core.h"
#include "search/kinds/index_loader.h"
#include "tests/unit/search/task_list_feed.h"
#include "tests/unit/temporary_folder.h"
#include "transport/mapped/mapped_endpoint.h"

namespace farvec::search {

using layout::ClusterLayoutKind;

inline constexpr std::uint32_t kDimension = 21;
inline constexpr std::size_t kCount = 3000;
inline constexpr std::uint32_t kClusters = 60;

/// Seeded bytes in clusters, in every layout, on disk and in memory.
class SmallClusters {
 public:
  explicit SmallClusters(bool record_checksum = false) {
    Random random(3);
    for (std::size_t i = 0; i < kCount * kDimension; ++i) {
      rows_.push_back(static_cast<std::uint8_t>(random.below(64) + 23 * (i / kDimension % 7)));
    }
    const VectorView view = packed_view(rows_.data(), kCount, kDimension, ElementType::u8);
    cluster::ClusteringOptions options;
    options.clusters = kClusters;
    options.replicas = 4;
    options.quiet = true;
    built_ = indexing::build_clusters(
        {indexing::describe_source({"small.u8bin", "small"}, view, Metric::l2), view}, options);
    for (const ClusterLayoutKind kind : layout::kClusterLayouts) {
      indexing::write_clusters(path(kind), built_, {kind, record_checksum},
                               {.threads = 1, .quiet = true});
      const auto directory = layout::IndexDirectory::open(path(kind));
      indexes_.emplace(kind, load_search_index(directory, {.threads = 1, .quiet = true}));
      regions_.emplace(
          kind, directory.load_region(layout::kRecordsRegion, {.threads = 1, .quiet = true}));
    }
  }

  std::filesystem::path path(ClusterLayoutKind kind) const {
    return folder_.path() / std::string(to_string(kind));
  }
  const SearchIndex& index(ClusterLayoutKind kind) const { return indexes_.at(kind); }
  std::span<const std::byte> region(ClusterLayoutKind kind) const {
    return regions_.at(kind).span();
  }
  std::span<std::byte> mutable_region(ClusterLayoutKind kind) { return regions_.at(kind).span(); }
  const std::byte* row(std::size_t i) const {
    return reinterpret_cast<const std::byte*>(rows_.data()) + i * kDimension;
  }
  MembershipView membership() const { return built_.clusters.membership(); }

  std::unique_ptr<transport::Endpoint> endpoint(ClusterLayoutKind kind,
                                                transport::MappedOptions options = {}) const {
    transport::RegionSet set;
    set.push_back(transport::MappedRegion::borrow(region(kind)));
    return std::make_unique<transport::MappedEndpoint>(
        std::make_shared<const transport::RegionSet>(std::move(set)), options);
  }

 private:
  tests::TemporaryFolder folder_;
  std::vector<std::uint8_t> rows_;
  indexing::BuiltClusters built_;
  std::map<ClusterLayoutKind, SearchIndex> indexes_;
  std::map<ClusterLayoutKind, HugeBuffer> regions_;
};

inline const SmallClusters& small_clusters() {
  static const SmallClusters clusters;
  return clusters;
}

/// Coded clusters are searched with a list that holds all their members, so that they give the
/// answer of every other layout.
class Feed : public TaskListFeed {
 public:
  Feed(const SmallClusters& clusters, std::size_t count, ProbeChoice probing,
       double deadline_us = 5e6)
      : TaskListFeed(count, deadline_us) {
    for (std::size_t i = 0; i < count; ++i) {
      tasks()[i].request.query = clusters.row(i * 7);
      probing.list = kCount;
      tasks()[i].request.parameters = SearchParameters::make(10, probing).value();
    }
  }
};

inline SearchCoreOptions with_slots(std::uint32_t slots, std::optional<std::uint32_t> gap = {}) {
  SearchCoreOptions options;
  options.slots = slots;
  options.merge_gap_bytes = gap;
  return options;
}

/// The k nearest of the members of the clusters that a search of `clusters` probes, without those
/// that are out.
inline std::vector<graph::Neighbor> nearest_members(const SmallClusters& small,
                                                    const Feed::Task& task) {
  const ClusterIndex& index = *small.index(ClusterLayoutKind::grouped).clusters();
  cluster::CentroidScratch scratch;
  index.centroids().search(task.request.query, task.request.parameters.probing().clusters, scratch);
  std::set<ClusterId> probed;
  for (const auto& near : scratch.found) probed.insert(near.cluster);
  const auto kernel = distance::pair_kernel(Metric::l2, ElementType::u8, kDimension);
  std::vector<graph::Neighbor> all;
  for (std::size_t v = 0; v < kCount; ++v) {
    if (task.request.out != nullptr && task.request.out->contains(static_cast<NodeId>(v))) continue;
    const auto own = small.membership().of(v);
    if (std::none_of(own.begin(), own.end(), [&](ClusterId c) { return probed.contains(c); })) {
      continue;
    }
    all.push_back({static_cast<NodeId>(v), kernel(task.request.query, small.row(v), kDimension)});
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
  });
  all.resize(std::min<std::size_t>(all.size(), task.request.parameters.k()));
  return all;
}

inline void expect_answer(const Feed::Task& task, const std::vector<graph::Neighbor>& expected) {
  ASSERT_TRUE(task.answer.status.ok()) << task.answer.status.message();
  ASSERT_EQ(task.answer.found, expected.size());
  for (std::uint32_t i = 0; i < task.answer.found; ++i) {
    EXPECT_EQ(task.id_room[i], expected[i].id) << i;
    EXPECT_EQ(task.distance_room[i], expected[i].distance) << i;
  }
}

}  // namespace farvec::search
