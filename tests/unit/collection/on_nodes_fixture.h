// A collection on memory nodes, of which readers have no folder, and damage to what the nodes hold.
#pragma once

#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "collection/read/collection_follower.h"
#include "collection/read/collection_reader.h"
#include "collection/read/collection_source.h"
#include "collection/segment/segment_folder.h"
#include "layout/collection/catalogue.h"
#include "tests/unit/collection/nodes_fixture.h"

namespace farvec::collection {

class CollectionOnNodes : public SegmentsOnNodes {
 protected:
  explicit CollectionOnNodes(const layout::CollectionManifest& shape = small_shape())
      : SegmentsOnNodes(shape) {
    log_bytes_ = std::uint64_t{32} << 20;
  }

  void start_all(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) start(i);
    count_ = count;
  }
  std::shared_ptr<LogNodes> logs() const {
    LogNodesOptions options;
    options.nodes = addresses(count_);
    options.attach = attach_options();
    return std::make_shared<LogNodes>(std::move(options));
  }
  /// Until the nodes have its catalogue.
  void open_on_nodes(const CollectionAccess& access) {
    open(access);
    EXPECT_TRUE(comes([&] { return !host(count_ - 1).catalogues().empty(); }));
  }
  CollectionAccess access() const {
    CollectionAccess access = small_access();
    access.segments = segments_on(count_);
    access.log_nodes = logs();
    access.durability = wal::Durability::commit;
    access.link = true;
    return access;
  }
  std::shared_ptr<CollectionSource> source(const std::string& name = "set") const {
    return nodes_collection(segments_on(count_).nodes, name);
  }
  std::unique_ptr<CollectionFollower> follow() const {
    return std::make_unique<CollectionFollower>(source(), segments_on(count_),
                                                FollowOptions{.poll_us = 500,
                                                              .manifest_us = 5'000,
                                                              .retry_us = 5'000,
                                                              .link = true,
                                                              .log_nodes = logs()});
  }
  /// What a reader that begins now sees.
  ViewPointer read() const {
    const auto log = logs();
    (void)log->refresh();
    CollectionReader reader(*source(), segments_on(count_), {.log_nodes = log});
    return reader.view();
  }
  void expect_follows(const CollectionFollower& follower) {
    const std::uint64_t version = collection_->view()->version;
    ASSERT_TRUE(comes([&] { return follower.view()->version >= version; }))
        << follower.view()->version << " of " << version << " " << follower.state().failure;
    expect_holds(follower.view(), rows_, random_);
  }
  /// By one that begins with nothing and one that begins later.
  void expect_every_change_followed(std::size_t nodes, int changes) {
    start_all(nodes);
    open_on_nodes(access());
    const auto first = follow();
    std::unique_ptr<CollectionFollower> second;
    for (int i = 0; i < changes; ++i) {
      change_somehow(access());
      if (i == 8) second = follow();
      if (i % 5 == 4) expect_follows(*first);
      if (i % 8 == 7 && second != nullptr) expect_follows(*second);
    }
    settle();
    expect_follows(*first);
    expect_follows(*second);
    expect_holds(read(), rows_, random_);
    EXPECT_TRUE(comes([&] { return first->state().switches > 0; }));
    EXPECT_TRUE(comes([&] { return first->state().failure.empty(); })) << first->state().failure;
    collection_->compact();
    EXPECT_TRUE(comes([&] { return first->view()->segments.size() == 1; }));
    expect_follows(*first);
  }
  /// Everything in segments, each on two nodes.
  void settle() {
    collection_->flush();
    collection_->settle();
    ASSERT_TRUE(comes([&] { return is_spread(count_, std::min<std::size_t>(count_, 2)); }));
  }
  /// Nobody repairs anything from here on.
  void end_writer() {
    number_ = collection_->shape().segments_on_nodes;
    const ViewPointer view = collection_->view();
    for (const View::Bulk& bulk : view->segments) {
      const std::filesystem::path folder = bulk.segment->folder().directory().path();
      files_[bulk.segment->number()] = {
          .index = folder,
          .index_bytes = 1,
          .ids = folder / layout::kSegmentIdsFile,
          .ids_bytes = std::filesystem::file_size(folder / layout::kSegmentIdsFile),
          .contents = paths_of(*bulk.segment).contents};
    }
    collection_.reset();
  }
  tiers::SegmentHost host(std::size_t node) const {
    tiers::AttachOptions options = attach_options();
    options.memory_node = rpc::parse_address(address(node));
    return tiers::SegmentHost(options);
  }
  /// A copy of the file in which a bit is another, and its checksum.
  std::pair<std::filesystem::path, std::uint64_t> damaged(const std::filesystem::path& path,
                                                          std::size_t at) const {
    std::ifstream file(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    bytes.at(at) = static_cast<char>(bytes.at(at) ^ 4);
    const std::filesystem::path copy = folder_.file("damaged");
    std::ofstream(copy, std::ios::binary) << bytes;
    return {copy, XXH3_64bits(bytes.data(), bytes.size())};
  }
  void load_damaged_ids(std::size_t node) {
    auto [number, files] = *files_.begin();
    std::tie(files.ids, files.contents.ids) =
        damaged(files_.begin()->second.ids, files.ids_bytes - 3);
    host(node).load({number_, number}, files);
  }
  void load_damaged_catalogue(std::size_t node, std::uint64_t number, std::uint64_t revision,
                              std::size_t at) {
    const std::filesystem::path path = this->path() / layout::kCatalogueFile;
    const auto [copy, checksum] = damaged(path, at);
    host(node).load_catalogue(number, {.name = "set",
                                       .revision = revision,
                                       .path = copy,
                                       .bytes = std::filesystem::file_size(copy),
                                       .checksum = checksum});
  }

  std::size_t count_ = 0;
  std::uint64_t number_ = 0;
  std::map<std::uint64_t, tiers::SegmentHost::SegmentPaths> files_;  ///< of segments, by number
};

}  // namespace farvec::collection
