// Declares options that the commands below `farvec collection` share.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/command_line.h"
#include "cli/index/reduction_option.h"
#include "collection/write/collection.h"
#include "collection/write/facts.h"
#include "layout/collection/collection_manifest.h"
#include "measure/runbook/collection_write.h"

namespace farvec::cli {

void add_write_options(Command& command, measure::CollectionWrite& write);

/// Says what the segments of a new collection are made with.
struct CollectionShape {
  std::string metric;
  std::string type;
  std::uint32_t dimension = 0;
  std::string schema;
  layout::CollectionOptions options;
  std::string kind = "graph";
  std::string layout;                              ///< empty: the usual one of the kind
  std::optional<std::uint32_t> degree, code_bits;  ///< none: the metric's degree, and the layout's
                                                   ///< bits
  ReductionOption reduction;
};

void add_shape_options(Command& command, CollectionShape& shape);
/// Returns the manifest of an empty collection. Throws an Error that names the option, also for an
/// option that the kind ignores.
layout::CollectionManifest shape_manifest(const Command& command, const CollectionShape& shape);

/// Adds the options of segments that are clusters, for commands that make a collection. `who`
/// begins the help.
void add_cluster_segment_options(Command& command, layout::ClusterSegmentOptions& clusters,
                                 const std::string& who);
inline constexpr const char* kClusterSegmentOptions[] = {"--cluster-bytes", "--replicas",
                                                         "--closure-ratio", "--balance"};

/// Says on stderr what came back from the log, when anything did.
void tell_recovery(const collection::Recovery& recovery, bool quiet);

}  // namespace farvec::cli
