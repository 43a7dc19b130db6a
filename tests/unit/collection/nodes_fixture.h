// A collection whose segments, and log, lie on memory nodes of the test's own process.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "layout/collection/segment_ids.h"
#include "tests/unit/collection/changing_collection.h"
#include "tests/unit/collection/comes.h"
#include "tests/unit/memory_node/node_thread.h"
#include "tiers/attach/segment_host.h"

namespace farvec::collection {

inline constexpr std::size_t kNodes = 3;
inline constexpr std::uint64_t kPlenty = 64 << 20;

using tests::NodeThread;

/// Of one search, which may fail.
inline Status status_of_search(const ViewPointer& view) {
  std::array<std::uint64_t, 1> ids{};
  std::array<float, 1> distances{};
  const std::vector<float> query(kSmallDimension, 0.5F);
  search::TaskListFeed feed(1, kPatienceUs);
  search::SearchTask& task = feed.tasks().front();
  task.request.query = reinterpret_cast<const std::byte*>(query.data());
  task.request.parameters =
      search::SearchParameters::make(1, search::GraphChoice{.list = kAll}).value();
  task.answer.ids = ids.data();
  task.answer.distances = distances.data();
  make_collection_core([&] { return view; }, 3)->run(feed);
  return task.answer.status;
}

/// Searches that begin in the moment in which a node's death is not noticed yet may fail, each with
/// a core of its own; whether they do no more.
inline bool searches_go_on(const ViewPointer& view) {
  for (int i = 0; i < 50; ++i) {
    if (!status_of_search(view).ok()) return false;
  }
  return true;
}

class SegmentsOnNodes : public ChangingCollection {
 protected:
  explicit SegmentsOnNodes(const layout::CollectionManifest& shape = small_shape())
      : ChangingCollection(shape) {}
  ~SegmentsOnNodes() override { collection_.reset(); }

  std::string address(std::size_t node) const {
    return "unix:" + folder_.file("node" + std::to_string(node));
  }
  void start(std::size_t node, std::uint64_t bytes = kPlenty) {
    memory_node::DaemonOptions options = tests::node_options(address(node), tier_);
    options.segment_bytes = bytes;
    options.log_bytes = log_bytes_;
    nodes_[node] = std::make_unique<NodeThread>(std::move(options));
  }
  std::vector<rpc::Address> addresses(std::size_t count) const {
    std::vector<rpc::Address> addresses;
    for (std::size_t i = 0; i < count; ++i) addresses.push_back(rpc::parse_address(address(i)));
    return addresses;
  }
  tiers::AttachOptions attach_options() const {
    tiers::AttachOptions attach;
    attach.reads = tiers::parse_node_tier(tier_)->read_path();
    attach.connect_timeout = std::chrono::seconds(1);
    // Nodes, writer and readers share two processors.
    attach.call_timeout = std::chrono::seconds(60);
    return attach;
  }
  SegmentAccess segments_on(std::size_t count) const {
    const auto tier = tiers::parse_node_tier(tier_);
    SegmentNodesOptions options;
    options.nodes = addresses(count);
    options.attach = attach_options();
    SegmentAccess segments = small_segments();
    segments.tier = tier;
    segments.nodes = std::make_shared<const SegmentNodes>(std::move(options));
    return segments;
  }
  void open_on(std::size_t count) {
    CollectionAccess access = small_access();
    access.segments = segments_on(count);
    access.link = true;
    open(access);
    const ViewPointer view = collection_->view();
    for (const View::Bulk& bulk : view->segments) bulk.segment->records().load();
  }

  std::set<std::uint64_t> held_by(std::size_t node) const {
    tiers::AttachOptions options;
    options.memory_node = rpc::parse_address(address(node));
    std::set<std::uint64_t> numbers;
    for (const auto& [number, sum] :
         tiers::SegmentHost(options).list(collection_->shape().segments_on_nodes)) {
      numbers.insert(number);
    }
    return numbers;
  }
  /// Every segment of the view on as many nodes as `copies`, and nothing else.
  bool is_spread(std::size_t nodes, std::size_t copies) const {
    std::multiset<std::uint64_t> held;
    for (std::size_t i = 0; i < nodes; ++i) held.merge(std::multiset(held_of(i)));
    std::multiset<std::uint64_t> wanted;
    const ViewPointer view = collection_->view();
    for (const View::Bulk& bulk : view->segments) {
      for (std::size_t i = 0; i < copies; ++i) wanted.insert(bulk.segment->number());
    }
    return held == wanted;
  }
  /// The writer can read each segment there: it attaches a moment after it has had it loaded.
  bool is_attached(std::size_t node) const {
    return nodes_[node]->leases() >= collection_->view()->segments.size();
  }
  std::multiset<std::uint64_t> held_of(std::size_t node) const {
    const auto numbers = held_by(node);
    return {numbers.begin(), numbers.end()};
  }

  /// The files of a segment under another number, for which its ids are written again: a node takes
  /// ids only under the number that their file names.
  tiers::SegmentHost::SegmentPaths renumbered(tiers::SegmentHost::SegmentPaths files,
                                              const layout::SegmentEntry& segment,
                                              std::uint64_t number) const {
    const std::vector<std::uint64_t> ids = layout::read_segment_ids(files.ids, segment);
    layout::SegmentEntry other = segment;
    other.number = number;
    files.ids = folder_.file("ids" + std::to_string(number));
    layout::write_segment_ids(files.ids, other, ids);
    files.contents.ids = layout::segment_ids_checksum(other, ids);
    return files;
  }

  std::string tier_ = "shm";
  std::uint64_t log_bytes_ = 0;  ///< of every node
  std::array<std::unique_ptr<NodeThread>, kNodes> nodes_;
};

}  // namespace farvec::collection
