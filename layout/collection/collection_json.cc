#include <xxhash.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/stored_form.h"
#include "layout/collection/collection_manifest.h"
#include "layout/collection/option_bounds.h"
#include "layout/log/log_segment.h"
#include "layout/region/json_fields.h"

namespace farvec::layout {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "farvec-collection";

void add_graph_options(Json& json, const CollectionOptions& options) {
  json["layout"] = to_string(options.layout);
  json["degree"] = options.degree;
  json["list"] = options.list;
  json["alpha"] = options.alpha;
  if (options.code_bits) json["code_bits"] = *options.code_bits;
}

/// A farvec that knows only graphs refuses the layout.
void add_cluster_options(Json& json, const ClusterSegmentOptions& clusters) {
  json["kind"] = to_string(IndexKind::cluster);
  json["layout"] = to_string(clusters.layout);
  json["cluster_bytes"] = clusters.cluster_bytes;
  json["replicas"] = clusters.replicas;
  json["closure_ratio"] = clusters.closure_ratio;
  json["balance"] = clusters.balance;
}

Json store_to_json(const ReductionWish& store) {
  Json json{{"type", to_string(store.type)}};
  if (store.type == ElementType::b1) {
    json["bits_metric"] = to_string(store.bits_metric);
    json["by"] = to_string(store.rule);
  }
  if (store.second) json["second"] = to_string(*store.second);
  return json;
}

Json options_to_json(const CollectionOptions& options) {
  Json json{{"memtable_rows", options.memtable_rows}, {"merge_fanout", options.merge_fanout}};
  switch (options.kind) {
    case IndexKind::graph:
      add_graph_options(json, options);
      break;
    case IndexKind::cluster:
      add_cluster_options(json, options.clusters);
      break;
  }
  if (options.store) json["store"] = store_to_json(*options.store);
  return json;
}

std::uint32_t json_version(const CollectionManifest& m) {
  return m.options.store ? kReducedCollectionVersion : kCollectionVersion;
}

Json segments_to_json(const CollectionManifest& m) {
  Json array = Json::array();
  for (const SegmentEntry& segment : m.segments) {
    array.push_back({{"number", segment.number},
                     {"rows", segment.rows},
                     {"out_version", segment.out_version},
                     {"out_count", segment.out_count}});
    if (!m.schema.empty() && !segment.attributed) array.back()["attributed"] = false;
    // A farvec that knows no updates finds another checksum, and refuses.
    if (segment.update_version != 0) {
      array.back()["update_version"] = segment.update_version;
      array.back()["update_count"] = segment.update_count;
    }
  }
  return array;
}

/// All fields but the checksum.
Json fields_to_json(const CollectionManifest& m) {
  Json json{{"format", kFormat},
            {"format_version", json_version(m)},
            {"metric", to_string(m.metric)},
            {"source_type", to_string(m.source_type)},
            {"stored_type", to_string(m.stored_type)},
            {"dimension", m.dimension},
            {"options", options_to_json(m.options)},
            {"next_segment", m.next_segment},
            {"last_version", m.last_version},
            {"log_position", m.log_position},
            {"segments", segments_to_json(m)},
            {"written_by", {{"version", m.farvec_version}, {"commit", m.farvec_commit}}}};
  if (m.revision != 0) json["revision"] = m.revision;
  // A farvec that knows no attributes finds another checksum, and refuses.
  if (!m.schema.empty()) json["schema"] = schema_to_json(m.schema);
  if (m.log_on_nodes != 0) json["log_on_nodes"] = hash_to_text(m.log_on_nodes);
  if (m.log_moving != 0) json["log_moving"] = hash_to_text(m.log_moving);
  if (m.log_epoch != 0) json["log_epoch"] = m.log_epoch;
  if (m.segments_on_nodes != 0) json["segments_on_nodes"] = hash_to_text(m.segments_on_nodes);
  return json;
}

std::uint64_t fields_checksum(const Json& fields) {
  const std::string text = fields.dump(-1, ' ', false, Json::error_handler_t::replace);
  return XXH3_64bits(text.data(), text.size());
}

void read_rows(const JsonFields& fields, CollectionManifest& m) {
  m.metric = fields.word("metric", parse_metric);
  m.source_type = fields.word("source_type", parse_element_type);
  m.stored_type = fields.word("stored_type", parse_element_type);
  if (!can_compare(m.metric, m.source_type)) {
    fields.fail("metric", fmt::format("is {}, which cannot compare {}", to_string(m.metric),
                                      to_string(m.source_type)));
  }
  m.dimension = fields.integer32("dimension", 1, max_dimension(m.source_type));
}

std::uint64_t read_integer(const JsonFields& fields, const char* name,
                           OptionBounds<std::uint64_t> bounds) {
  return fields.integer(name, bounds.least, bounds.most);
}

std::uint32_t read_integer32(const JsonFields& fields, const char* name,
                             OptionBounds<std::uint32_t> bounds) {
  return fields.integer32(name, bounds.least, bounds.most);
}

ClusterSegmentOptions read_cluster_options(const JsonFields& fields) {
  ClusterSegmentOptions clusters;
  clusters.layout = fields.word("layout", parse_cluster_layout);
  clusters.cluster_bytes = read_integer(fields, "cluster_bytes", kClusterBytesBounds);
  clusters.replicas = read_integer32(fields, "replicas", kReplicasBounds);
  clusters.closure_ratio = fields.number("closure_ratio", 0, kClosureRatioBounds.most);
  if (clusters.closure_ratio != 0 && clusters.closure_ratio < kClosureRatioBounds.least) {
    fields.fail("closure_ratio", "is neither 0 nor 1 to 100");
  }
  clusters.balance = fields.number("balance", kBalanceBounds.least, kBalanceBounds.most);
  return clusters;
}

void read_graph_options(const JsonFields& fields, CollectionOptions& options) {
  options.layout = fields.word("layout", parse_layout_kind);
  if (!can_be_segment(options.layout)) {
    fields.fail("layout", fmt::format("is {}, not csr, inline, packed or slotted",
                                      to_string(options.layout)));
  }
  options.degree = read_integer32(fields, "degree", kDegreeBounds);
  options.list = read_integer32(fields, "list", kListBounds);
  options.alpha = fields.number("alpha", kAlphaBounds.least, kAlphaBounds.most);
  if (fields.has("code_bits")) {
    options.code_bits = read_integer32(fields, "code_bits", kCodeBitsBounds);
  }
  if (options.degree > largest_degree(options.layout)) {
    fields.fail("degree",
                fmt::format("is more than a vertex of layout {} has", to_string(options.layout)));
  }
}

BitRule parse_rule(std::string_view word) {
  if (const auto rule = find_bit_rule(word)) return *rule;
  throw Error("'{}' is no rule for bits: use sign, mean or median", word);
}

ReductionWish read_store(const JsonFields& fields) {
  ReductionWish store;
  store.type = fields.word("type", parse_element_type);
  if (store.type == ElementType::b1) {
    store.bits_metric = fields.word("bits_metric", parse_metric);
    store.rule = fields.word("by", parse_rule);
  }
  if (fields.has("second")) store.second = fields.word("second", parse_element_type);
  return store;
}

/// Checks what follows from the metric, the type and the options.
void check_types(const JsonFields& fields, const CollectionManifest& m) {
  if (m.options.store) {
    try {
      check_reduction(*m.options.store, m.metric, m.source_type);
    } catch (const Error& error) {
      fields.fail("options", fmt::format("have a store that cannot be: {}", error.what()));
    }
  }
  if (m.stored_type == whole_type(m.options.store, m.metric, m.source_type)) return;
  fields.fail("stored_type", fmt::format("does not follow from {} over {}", to_string(m.metric),
                                         to_string(m.source_type)));
}

CollectionOptions read_options(const JsonFields& fields) {
  CollectionOptions options;
  options.memtable_rows = read_integer32(fields, "memtable_rows", kMemtableRowsBounds);
  options.merge_fanout = read_integer32(fields, "merge_fanout", kMergeFanoutBounds);
  if (fields.has("kind")) options.kind = fields.word("kind", parse_segment_kind);
  switch (options.kind) {
    case IndexKind::graph:
      read_graph_options(fields, options);
      break;
    case IndexKind::cluster:
      options.clusters = read_cluster_options(fields);
      break;
  }
  if (fields.has("store")) options.store = read_store(fields.object("store"));
  return options;
}

/// `m` has all but the segments; `least_number` is above the numbers of the segments before.
SegmentEntry read_segment(const JsonFields& fields, const CollectionManifest& m,
                          std::uint64_t least_number) {
  SegmentEntry segment;
  segment.number = fields.integer("number", 0);
  if (segment.number < least_number) fields.fail("number", "does not ascend");
  if (segment.number >= m.next_segment) {
    fields.fail("number",
                fmt::format("is {}, and the next one {}", segment.number, m.next_segment));
  }
  segment.rows = fields.integer("rows", 1, kMostSegmentRows);
  segment.out_version = fields.integer("out_version", 0, m.last_version);
  segment.out_count = fields.integer("out_count", 0, segment.rows);
  if ((segment.out_version == 0) != (segment.out_count == 0)) {
    fields.fail("out_version", "contradicts the count of rows that are out");
  }
  if (!m.schema.empty() && fields.has("update_version")) {
    segment.update_version = fields.integer("update_version", 1, m.last_version);
    segment.update_count = fields.integer("update_count", 1, segment.rows);
  }
  segment.attributed =
      !m.schema.empty() && (!fields.has("attributed") || fields.boolean("attributed"));
  return segment;
}

void read_segments(const JsonFields& fields, CollectionManifest& m) {
  const std::size_t count = fields.array("segments").size();
  if (count > kMostSegments) {
    fields.fail("segments", fmt::format("are {}, more than {}", count, kMostSegments));
  }
  std::uint64_t least_number = 0;
  for (std::size_t i = 0; i < count; ++i) {
    m.segments.push_back(read_segment(fields.element("segments", i), m, least_number));
    least_number = m.segments.back().number + 1;
  }
}

nlohmann::json parse_collection(std::string_view text, std::string_view source) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw Error("{} is not JSON ({}): the manifest is damaged or truncated", source, error.what());
  }
}

}  // namespace

std::string collection_to_json(const CollectionManifest& manifest) {
  Json json = fields_to_json(manifest);
  json["xxh3"] = hash_to_text(fields_checksum(json));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

CollectionManifest collection_from_json(std::string_view text, std::string_view source) {
  const nlohmann::json json = parse_collection(text, source);
  const JsonFields fields(json, fmt::format("{}: manifest", source));
  if (fields.text("format") != kFormat) fields.fail("format", "is not farvec-collection");
  const std::uint64_t version = fields.integer("format_version", 0);
  require_collection_version(version, source, kReducedCollectionVersion);
  CollectionManifest m;
  read_rows(fields, m);
  m.options = read_options(fields.object("options"));
  check_types(fields, m);
  if (version != json_version(m)) fields.fail("format_version", "contradicts the options");
  if (fields.has("schema")) m.schema = schema_from_json(fields, "schema");
  m.next_segment = fields.integer("next_segment", 0);
  m.last_version = fields.integer("last_version", 0);
  m.log_position = fields.integer("log_position", 0, kMaxLogPosition - 1);
  if (json.contains("revision")) m.revision = fields.integer("revision", 1);
  if (json.contains("log_on_nodes")) m.log_on_nodes = fields.hash("log_on_nodes");
  if (json.contains("log_moving")) m.log_moving = fields.hash("log_moving");
  if (json.contains("log_epoch")) m.log_epoch = fields.integer32("log_epoch", 1);
  if (json.contains("segments_on_nodes")) m.segments_on_nodes = fields.hash("segments_on_nodes");
  read_segments(fields, m);
  const JsonFields written_by = fields.object("written_by");
  m.farvec_version = written_by.text("version");
  m.farvec_commit = written_by.text("commit");
  if (fields.hash("xxh3") != fields_checksum(fields_to_json(m))) {
    throw Error("{} is damaged: its checksum does not match; restore it from a copy", source);
  }
  return m;
}

}  // namespace farvec::layout
