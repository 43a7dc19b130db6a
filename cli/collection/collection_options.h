// Options that the commands below `farvec collection` share.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/command_line.h"
#include "collection/write/collection.h"
#include "collection/write/facts.h"
#include "layout/collection/collection_manifest.h"
#include "measure/runbook/collection_write.h"

namespace farvec::cli {

void add_write_options(Command& command, measure::CollectionWrite& write);

/// Of an empty collection: what its segments are made with.
struct CollectionShape {
  std::string metric;
  std::string type;
  std::uint32_t dimension = 0;
  layout::CollectionOptions options;
  std::string kind = "graph";
  std::string layout;                              ///< empty: the kind's own
  std::optional<std::uint32_t> degree, code_bits;  ///< none: of the metric, and of the layout
};

void add_shape_options(Command& command, CollectionShape& shape);
/// Throws Error naming the option, also one that the kind does not look at.
layout::CollectionManifest shape_manifest(const Command& command, const CollectionShape& shape);

/// Of segments that are clusters, for commands that make a collection. `who` begins the help.
void add_cluster_segment_options(Command& command, layout::ClusterSegmentOptions& clusters,
                                 const std::string& who);
inline constexpr const char* kClusterSegmentOptions[] = {"--cluster-bytes", "--replicas",
                                                         "--closure-ratio", "--balance"};

/// A line on stderr when the log had something to bring back.
void tell_recovery(const collection::Recovery& recovery, bool quiet);

}  // namespace farvec::cli
