#include "cli/collection/collection_options.h"

#include <fmt/format.h>

#include <cstdio>
#include <vector>

#include "base/error.h"
#include "base/option_rules.h"
#include "cli/index/code_bits_option.h"
#include "graph/usual_degree.h"
#include "indexing/code_bits.h"
#include "wal/durability_option.h"

namespace farvec::cli {

void add_write_options(Command& command, measure::CollectionWrite& write) {
  command.add_option("--durability", write.durability, wal::durability_help("the command ends"))
      .show_default();
  command
      .add_option("--threads", write.build_threads,
                  "Threads that build segments, and as many that merge; 0: one per processor")
      .show_default();
  command
      .add_option("--merge-bytes-per-second", write.merge_bytes_per_s,
                  "Bytes that merges read and write together, from and to the disk; 0: as many as "
                  "they can")
      .size()
      .show_default();
}

void add_cluster_segment_options(Command& command, layout::ClusterSegmentOptions& clusters,
                                 const std::string& who) {
  command
      .add_option("--cluster-bytes", clusters.cluster_bytes,
                  who +
                      "bytes (8192, 8KiB) of the vectors that have one cluster as their own, on\n"
                      "average")
      .size()
      .show_default();
  command.add_option("--replicas", clusters.replicas, who + "R: most clusters per vector")
      .range(1u, layout::kMaxReplicas)
      .show_default();
  command.add_option("--closure-ratio", clusters.closure_ratio,
                     who +
                         "a vector is put into a cluster only when that centroid is at most this\n"
                         "many times as far away as its nearest one [as farvec build cluster]");
  command
      .add_option("--balance", clusters.balance,
                  who + "most vectors that have one cluster as their own, over the mean")
      .show_default();
}

void add_shape_options(Command& command, CollectionShape& shape) {
  layout::CollectionOptions& options = shape.options;
  command.add_option("--metric", shape.metric, "l2, ip or cosine; of bits hamming or jaccard")
      .required();
  command.add_option("--kind", shape.kind, "What segments are: graph or cluster")
      .one_of({"graph", "cluster"})
      .show_default();
  command
      .add_option("--memtable-rows", options.memtable_rows,
                  "Rows that are searched in the writer's memory before they become a segment")
      .range(1u, layout::CollectionOptions::kMostMemtableRows)
      .show_default();
  command
      .add_option("--merge-fanout", options.merge_fanout,
                  "Segments of one size that are merged into one")
      .range(2u, 64u)
      .show_default();
  command.add_option("--degree", shape.degree,
                     "graph: most edges per vertex of a segment [32; of --metric ip 48]");
  command.add_option("--list", options.list, "graph: L of the searches while a segment is built")
      .show_default();
  command
      .add_option("--alpha", options.alpha, "graph: how much longer an edge may be than a detour")
      .show_default();
  add_code_bits_option(command, shape.code_bits);
  command.add_option(
      "--layout", shape.layout,
      "How segments lie: csr, packed, inline, or slotted, which is searched on an SSD [csr];\n"
      "clusters coupled, decoupled, grouped, grouped-inline or coded [grouped]");
  add_cluster_segment_options(command, options.clusters, "cluster: ");
  add_reduction_option(command, shape.reduction);
}

namespace {

void refuse_other_kind(const Command& command, layout::IndexKind kind) {
  std::vector<OptionRule> rules;
  for (const char* option : {"--degree", "--list", "--alpha", kCodeBitsOption}) {
    rules.push_back({option, kind == layout::IndexKind::graph, "--kind graph"});
  }
  for (const char* option : kClusterSegmentOptions) {
    rules.push_back({option, kind == layout::IndexKind::cluster, "--kind cluster"});
  }
  refuse_unused(command, rules);
}

}  // namespace

layout::CollectionManifest shape_manifest(const Command& command, const CollectionShape& shape) {
  layout::CollectionOptions options = shape.options;
  options.kind = layout::parse_segment_kind(shape.kind);
  refuse_other_kind(command, options.kind);
  refuse_unused_reduction(command, shape.reduction);
  if (shape.reduction.given()) options.store = shape.reduction.wish();
  const Metric metric = parse_metric(shape.metric);
  switch (options.kind) {
    case layout::IndexKind::graph:
      options.degree = shape.degree.value_or(graph::usual_degree(metric));
      if (!shape.layout.empty()) options.layout = layout::parse_layout_kind(shape.layout);
      options.code_bits = indexing::code_bits_of(options.layout, shape.code_bits, kCodeBitsOption);
      break;
    case layout::IndexKind::cluster:
      if (!shape.layout.empty()) {
        options.clusters.layout = layout::parse_cluster_layout(shape.layout);
      }
      break;
  }
  return collection::empty_manifest({.type = parse_element_type(shape.type),
                                     .dimension = shape.dimension,
                                     .metric = metric,
                                     .schema = layout::parse_schema(shape.schema)},
                                    options);
}

void tell_recovery(const collection::Recovery& recovery, bool quiet) {
  if (quiet || recovery.records == 0) return;
  fmt::print(stderr, "read {} changes from the log in {:.2f} s\n", recovery.changes,
             recovery.seconds);
  if (recovery.torn_bytes > 0) {
    fmt::print(stderr, "cut {} bytes of a record that was never acknowledged\n",
               recovery.torn_bytes);
  }
  if (recovery.left_out > 0) {
    fmt::print(
        stderr,
        "left out {} rows of the log that have no distances to others (NaN, infinity, or too "
        "long): their ids are not there\n",
        recovery.left_out);
  }
}

}  // namespace farvec::cli
