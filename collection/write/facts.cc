#include "collection/write/facts.h"

namespace farvec::collection {

layout::CollectionManifest empty_manifest(const changes::RowShape& rows,
                                          const layout::CollectionOptions& options) {
  layout::CollectionManifest manifest;
  manifest.metric = rows.metric.value();
  manifest.source_type = rows.type;
  manifest.stored_type = layout::whole_type(options.store, manifest.metric, rows.type);
  manifest.dimension = rows.dimension;
  manifest.schema = rows.schema;
  manifest.options = options;
  return manifest;
}

namespace {

nlohmann::ordered_json graph_json(const layout::CollectionOptions& options) {
  nlohmann::ordered_json json{{"layout", to_string(options.layout)},
                              {"degree", options.degree},
                              {"list", options.list},
                              {"alpha", options.alpha}};
  json["code_bits"] = options.code_bits ? nlohmann::ordered_json(*options.code_bits)
                                        : nlohmann::ordered_json("as the rows need");
  return json;
}

nlohmann::ordered_json cluster_json(const layout::ClusterSegmentOptions& clusters) {
  nlohmann::ordered_json json{{"layout", to_string(clusters.layout)},
                              {"cluster_bytes", clusters.cluster_bytes},
                              {"replicas", clusters.replicas},
                              {"balance", clusters.balance}};
  if (clusters.closure_ratio != 0) json["closure_ratio"] = clusters.closure_ratio;
  return json;
}

nlohmann::ordered_json store_json(const layout::ReductionWish& store, ElementType whole) {
  nlohmann::ordered_json json{{"store", to_string(store.type)}};
  if (store.type == ElementType::b1) {
    json["bits_metric"] = to_string(store.bits_metric);
    json["by"] = to_string(store.rule);
  }
  json["second_copy"] = to_string(whole);
  return json;
}

}  // namespace

nlohmann::ordered_json shape_json(const layout::CollectionManifest& manifest) {
  const layout::CollectionOptions& options = manifest.options;
  const bool clusters = options.kind == layout::IndexKind::cluster;
  nlohmann::ordered_json json{
      {"metric", to_string(manifest.metric)}, {"type", to_string(manifest.source_type)},
      {"dimension", manifest.dimension},      {"memtable_rows", options.memtable_rows},
      {"merge_fanout", options.merge_fanout}, {"kind", to_string(options.kind)}};
  if (!manifest.schema.empty()) json["schema"] = layout::schema_to_json(manifest.schema);
  json.update(clusters ? cluster_json(options.clusters) : graph_json(options));
  if (options.store) json.update(store_json(*options.store, manifest.stored_type));
  return json;
}

nlohmann::ordered_json view_json(const View& view) {
  const ViewSize size = size_of(view);
  return {{"version", view.version},
          {"vectors", size.live},
          {"memtables", view.memtables.size()},
          {"memtable_vectors", size.fresh},
          {"segments", view.segments.size()},
          {"out_rows", size.out},
          {"updated_rows", size.updated},
          {"segment_bytes", size.segment_bytes},
          {"dram_bytes", size.dram_bytes}};
}

nlohmann::ordered_json state_json(const View& view, const WriterState& state) {
  nlohmann::ordered_json json = view_json(view);
  json["log_bytes"] = state.log_bytes;
  json["segments_built"] = state.built;
  json["segments_merged"] = state.merged;
  if (state.merge.segments > 0) {
    json["merge"] = {{"phase", to_string(state.merge.phase)},
                     {"segments", state.merge.segments},
                     {"rows", state.merge.rows},
                     {"rows_linked", state.merge.linked}};
  }
  if (!state.failure.empty()) json["failure"] = state.failure;
  return json;
}

nlohmann::ordered_json recovery_json(const Recovery& recovery) {
  return {{"records", recovery.records},
          {"changes", recovery.changes},
          {"torn_bytes", recovery.torn_bytes},
          {"left_out", recovery.left_out},
          {"seconds", recovery.seconds}};
}

}  // namespace farvec::collection
