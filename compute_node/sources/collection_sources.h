// A collection is served in one of two ways: this process changes it (ChangedSource), or it follows
// what another process changes (FollowedSource).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "collection/read/node_arguments.h"
#include "compute_node/collection/change_options.h"
#include "search/core/disk_options.h"

namespace farvec::compute_node {

/// A SearchedCollection says where a collection and its parts are read.
struct SearchedCollection {
  std::string name;                 ///< its folder, or "nodes:NAME"
  collection::NodeArguments nodes;  ///< for its log and segments
  std::string tier = "dram";        ///< for segments that are not on nodes
  std::string second_tier = {};     ///< for their second copies; empty: `tier`
  /// How segments in slotted pages are searched; none: the segments are of another layout.
  std::optional<search::DiskArguments> pages = std::nullopt;
  /// A memory node that owes reads for this long is given up, where there are several.
  std::chrono::milliseconds node_timeout{250};
};

/// BackgroundOptions say what builds and merges segments beside the calls of clients.
struct BackgroundOptions {
  std::uint32_t build_threads = 1;
  std::uint32_t merge_threads = 1;                 ///< beside those; 0: one per processor
  std::string followers;                           ///< see collection::ProbingNodes
  std::uint64_t merge_bytes_per_s = 256ull << 20;  ///< read and written by merges; 0: no bound
};

struct ChangedSource {
  SearchedCollection collection;
  std::string durability = "commit";  ///< a word that wal::parse_durability() takes
  ChangeOptions changes;
  BackgroundOptions background;
};

struct FollowedSource {
  SearchedCollection collection;
};

}  // namespace farvec::compute_node
