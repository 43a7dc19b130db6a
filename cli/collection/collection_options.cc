#include "cli/collection/collection_options.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/error.h"
#include "base/parallel.h"
#include "cli/index/code_bits_option.h"
#include "distance/distance.h"
#include "indexing/code_bits.h"
#include "indexing/graph_recipe.h"
#include "wal/durability_option.h"

namespace farvec::cli {

void add_write_options(Command& command, CollectionWrite& write) {
  command.add_option("--durability", write.durability, wal::durability_help("the command ends"))
      .show_default();
  command
      .add_option("--threads", write.build_threads,
                  "Threads that build segments; 0: one per processor")
      .show_default();
}

collection::CollectionAccess write_access(const CollectionWrite& write) {
  wal::LogOptions log;
  wal::parse_durability(write.durability, log);
  collection::CollectionAccess access;
  access.segments = collection::SegmentAccess::on("dram");
  access.segments.threads = write.build_threads;
  access.durability = log.durability;
  access.interval_us = log.interval_us;
  access.build_threads = resolve_threads(write.build_threads);
  return access;
}

void add_shape_options(Command& command, CollectionShape& shape) {
  layout::CollectionOptions& options = shape.options;
  command.add_option("--metric", shape.metric, "l2, ip or cosine").required();
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
  command.add_option("--degree", options.degree, "R: most edges per vertex of a segment")
      .show_default();
  command.add_option("--list", options.list, "L of the searches while a segment is built")
      .show_default();
  command.add_option("--alpha", options.alpha, "How much longer an edge may be than a detour")
      .show_default();
  add_code_bits_option(command, shape.code_bits);
  command.add_option("--layout", shape.layout, "Of the segments: csr, packed or inline")
      .show_default();
}

layout::CollectionManifest shape_manifest(const CollectionShape& shape) {
  layout::CollectionManifest manifest;
  manifest.metric = parse_metric(shape.metric);
  manifest.source_type = parse_element_type(shape.type);
  manifest.stored_type = distance::stored_type(manifest.metric, manifest.source_type);
  manifest.dimension = shape.dimension;
  manifest.options = shape.options;
  manifest.options.layout = layout::parse_layout_kind(shape.layout);
  manifest.options.code_bits =
      indexing::code_bits_of(manifest.options.layout, shape.code_bits, kCodeBitsOption);
  indexing::check_degree(manifest.options.layout, manifest.options.degree);
  return manifest;
}

nlohmann::ordered_json shape_json(const layout::CollectionManifest& manifest) {
  const layout::CollectionOptions& options = manifest.options;
  return {{"metric", to_string(manifest.metric)},
          {"type", to_string(manifest.source_type)},
          {"dimension", manifest.dimension},
          {"memtable_rows", options.memtable_rows},
          {"merge_fanout", options.merge_fanout},
          {"layout", to_string(options.layout)},
          {"degree", options.degree},
          {"list", options.list},
          {"alpha", options.alpha},
          {"code_bits", options.code_bits}};
}

nlohmann::ordered_json view_json(const collection::View& view) {
  const collection::ViewSize size = size_of(view);
  return {{"version", view.version},
          {"vectors", size.live},
          {"memtables", view.memtables.size()},
          {"memtable_vectors", size.fresh},
          {"segments", view.segments.size()},
          {"out_rows", size.out},
          {"segment_bytes", size.segment_bytes},
          {"dram_bytes", size.dram_bytes}};
}

nlohmann::ordered_json state_json(const collection::View& view,
                                  const collection::WriterState& state) {
  nlohmann::ordered_json json = view_json(view);
  json["log_bytes"] = state.log_bytes;
  json["segments_built"] = state.built;
  json["segments_merged"] = state.merged;
  if (!state.failure.empty()) json["failure"] = state.failure;
  return json;
}

nlohmann::ordered_json recovery_json(const collection::Recovery& recovery) {
  return {{"records", recovery.records},
          {"changes", recovery.changes},
          {"torn_bytes", recovery.torn_bytes},
          {"seconds", recovery.seconds}};
}

void tell_recovery(const collection::Recovery& recovery, bool quiet) {
  if (quiet || recovery.records == 0) return;
  fmt::print(stderr, "read {} changes from the log in {:.2f} s\n", recovery.changes,
             recovery.seconds);
  if (recovery.torn_bytes > 0) {
    fmt::print(stderr, "cut {} bytes of a record that was never acknowledged\n",
               recovery.torn_bytes);
  }
}

}  // namespace farvec::cli
