#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "layout/pages/page_map.h"
#include "layout/region/json_fields.h"
#include "layout/region/manifest.h"
#include "layout/region/placement_json.h"

namespace farvec::layout {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "farvec-index";
constexpr std::uint64_t kMost64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMost32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMostPayloadBytes = std::uint64_t{1} << 56;

Json region_to_json(const RegionEntry& region) {
  Json checksums = Json::array();
  for (const std::uint64_t checksum : region.checksums) {
    checksums.push_back(hash_to_text(checksum));
  }
  return {{"kind", to_string(region.kind)},
          {"file", region.file},
          {"payload_bytes", region.payload_bytes},
          {"chunk_bytes", region.chunk_bytes},
          {"xxh3", std::move(checksums)}};
}

Json slotted_to_json(const SlottedDescription& slotted) {
  return {{"payload", to_string(slotted.payload)},
          {"extension_bits", slotted.extension_bits},
          {"payload_bytes", slotted.payload_bytes},
          {"pages", slotted.pages},
          {"placement", slotted.placement},
          {"rerank", slotted.rerank},
          {"affine_pairs", slotted.affine_pairs},
          {"affine_pairs_together", slotted.affine_pairs_together},
          {"entries",
           {{"vertices", slotted.entries.vertices},
            {"degree", slotted.entries.degree},
            {"entry", slotted.entries.entry}}}};
}

Json graph_to_json(const Manifest& m) {
  Json json = {{"layout", to_string(m.layout)},
               {"record_checksum", m.record_checksum},
               {"block_bytes", m.block_bytes},
               {"max_degree", m.max_degree},
               {"edges", m.edges},
               {"average_degree", m.average_degree()},
               {"entry", m.entry}};
  if (m.is_slotted()) json["slotted"] = slotted_to_json(m.slotted);
  return json;
}

Json build_to_json(const BuildParameters& build) {
  return {{"degree", build.degree}, {"list", build.list}, {"alpha", build.alpha},
          {"passes", build.passes}, {"seed", build.seed}, {"code_bits", build.code_bits}};
}

Json cluster_to_json(const Manifest& m) {
  const ClusterGeometry& cluster = m.cluster;
  return {{"layout", to_string(cluster.kind)},
          {"record_checksum", cluster.record_checksum},
          {"clusters", cluster.clusters},
          {"members", cluster.members},
          {"address_bytes", cluster.address_bytes},
          {"block_bytes", cluster.block_bytes},
          {"replication", m.replication}};
}

Json cluster_build_to_json(const ClusterBuildParameters& build) {
  return {{"replicas", build.replicas},
          {"closure_ratio", build.closure_ratio},
          {"balance", build.balance},
          {"sample", build.sample},
          {"seed", build.seed}};
}

Json dataset_to_json(const DatasetFingerprint& dataset) {
  return {{"name", dataset.name},
          {"file", dataset.file},
          {"row_bytes", dataset.row_bytes},
          {"rows_hashed", dataset.rows_hashed},
          {"xxh3", hash_to_text(dataset.xxh3)}};
}

std::uint32_t integer32(const JsonFields& fields, const char* name, std::uint64_t least,
                        std::uint64_t most = kMost32) {
  return static_cast<std::uint32_t>(fields.integer(name, least, most));
}

/// A word that `parse` accepts.
template <typename Parse>
auto word(const JsonFields& fields, const char* name, Parse parse) {
  const std::string& text = fields.text(name);
  try {
    return parse(text);
  } catch (const Error& error) {
    fields.fail(name, fmt::format("is not understood ({})", error.what()));
  }
}

void read_shape(const JsonFields& fields, Manifest& m) {
  const std::string& index = fields.text("index");
  if (index != "graph" && index != "cluster") {
    fields.fail("index", fmt::format("is '{}', not 'graph' or 'cluster'", index));
  }
  m.index = index == "graph" ? IndexKind::graph : IndexKind::cluster;
  m.metric = word(fields, "metric", parse_metric);
  m.stored_type = word(fields, "stored_type", parse_element_type);
  m.source_type = word(fields, "source_type", parse_element_type);
  m.normalised = fields.boolean("normalised");
  if (m.normalised != (m.metric == Metric::cosine)) {
    fields.fail("normalised", "contradicts the metric");
  }
  m.dimension = integer32(fields, "dimension", 1, kMaxDimension);
  m.count = fields.integer("count", 1, kInvalidNode - 1);
}

EntryGraphShape read_entries(const JsonFields& fields, const Manifest& m) {
  EntryGraphShape entries;
  const std::uint64_t most = std::min<std::uint64_t>(m.count, EntryGraphShape::kMostVertices);
  entries.vertices = integer32(fields, "vertices", 1, most);
  entries.degree = integer32(fields, "degree", 1, EntryGraphShape::kMostDegree);
  entries.entry = integer32(fields, "entry", 0, m.count - 1);
  return entries;
}

void read_slotted(const JsonFields& fields, Manifest& m) {
  SlottedDescription& slotted = m.slotted;
  slotted.payload = word(fields, "payload", parse_payload_kind);
  slotted.extension_bits = integer32(fields, "extension_bits", 0, 7);
  slotted.payload_bytes = integer32(fields, "payload_bytes", 1, kMaxDimension * sizeof(float));
  slotted.pages = integer32(fields, "pages", 1, SlottedGeometry::kMostPages);
  slotted.placement = fields.text("placement", 64);
  slotted.rerank = fields.boolean("rerank");
  slotted.affine_pairs = fields.integer("affine_pairs", 0, kMost64);
  slotted.affine_pairs_together = fields.integer("affine_pairs_together", 0, slotted.affine_pairs);
  slotted.entries = read_entries(fields.object("entries"), m);
  if (slotted.payload == PayloadKind::vector &&
      slotted.payload_bytes != m.geometry().vector_bytes) {
    fields.fail("payload_bytes", "are not those of a vector");
  }
  if (m.record_checksum) fields.fail("payload", "is in pages, which have their own checksums");
  try {
    m.slotted_geometry().validate();
  } catch (const Error& error) {
    throw Error("{}: {}", fields.path(), error.what());
  }
}

void read_graph(const JsonFields& fields, Manifest& m) {
  m.layout = word(fields, "layout", parse_layout_kind);
  m.record_checksum = fields.boolean("record_checksum");
  m.block_bytes = integer32(fields, "block_bytes", 512, 1u << 20);
  m.max_degree = integer32(fields, "max_degree", 1, OffsetTable::kMaxDegree);
  m.edges = fields.integer("edges", 0, m.count * m.max_degree);
  m.entry = integer32(fields, "entry", 0, m.count - 1);
  if ((m.block_bytes & (m.block_bytes - 1)) != 0) fields.fail("block_bytes", "is no power of two");
  if (m.is_slotted()) read_slotted(fields.object("slotted"), m);
}

void read_replication(const JsonFields& fields, Manifest& m) {
  const nlohmann::json& array = fields.array("replication");
  if (array.size() != m.replication.size()) fields.fail("replication", "has not eight numbers");
  std::uint64_t vectors = 0;
  std::uint64_t members = 0;
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (!array[i].is_number_unsigned() || array[i].get<std::uint64_t>() > m.count) {
      fields.fail("replication", "has something else than counts of vectors");
    }
    m.replication[i] = array[i].get<std::uint64_t>();
    vectors += m.replication[i];
    members += (i + 1) * m.replication[i];
  }
  if (vectors != m.count || members != m.cluster.members) {
    fields.fail("replication", "does not add up to the vectors and members");
  }
}

void read_cluster(const JsonFields& fields, Manifest& m) {
  m.cluster.kind = word(fields, "layout", parse_cluster_layout);
  m.cluster.record_checksum = fields.boolean("record_checksum");
  m.cluster.clusters = integer32(fields, "clusters", 1, m.count);
  m.cluster.members = fields.integer("members", m.count, m.count * kMaxReplicas);
  m.cluster.address_bytes = integer32(fields, "address_bytes", 3, 4);
  m.cluster.block_bytes = integer32(fields, "block_bytes", 512, kRegionHeaderBytes);
  m.cluster.count = m.count;
  m.cluster.vector_bytes = static_cast<std::uint32_t>(m.dimension * element_bytes(m.stored_type));
  read_replication(fields, m);
  try {
    m.cluster.validate();
  } catch (const Error& error) {
    throw Error("{}: {}", fields.path(), error.what());
  }
}

void read_cluster_build(const JsonFields& fields, ClusterBuildParameters& build) {
  build.replicas = integer32(fields, "replicas", 1, kMaxReplicas);
  build.closure_ratio = fields.number("closure_ratio", 0, 1e6);
  build.balance = fields.number("balance", 0, 1e6);
  build.sample = fields.integer("sample", 0, kMost64);
  build.seed = fields.integer("seed", 0, kMost64);
}

void read_build(const JsonFields& fields, BuildParameters& build) {
  build.degree = integer32(fields, "degree", 0);
  build.list = integer32(fields, "list", 0);
  build.alpha = fields.number("alpha", 0, 1e6);
  build.passes = integer32(fields, "passes", 0);
  build.seed = fields.integer("seed", 0, kMost64);
  build.code_bits = integer32(fields, "code_bits", 1, 8);
}

void read_dataset(const JsonFields& fields, DatasetFingerprint& dataset) {
  dataset.name = fields.text("name");
  dataset.file = fields.text("file");
  dataset.row_bytes = fields.integer("row_bytes", 1, kMaxDimension * sizeof(float));
  dataset.rows_hashed = fields.integer("rows_hashed", 0, kMost64);
  dataset.xxh3 = fields.hash("xxh3");
}

bool is_plain_file_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

RegionEntry read_region(const JsonFields& fields, RegionKind kind) {
  RegionEntry region;
  region.kind = kind;
  if (fields.text("kind") != to_string(kind)) {
    fields.fail("kind", fmt::format("is not {}", to_string(kind)));
  }
  region.file = fields.text("file", 255);
  if (!is_plain_file_name(region.file)) fields.fail("file", "is not the name of a file");
  region.payload_bytes = fields.integer("payload_bytes", 1, kMostPayloadBytes);
  region.chunk_bytes = fields.integer("chunk_bytes", 4096, 1u << 30);
  const nlohmann::json& checksums = fields.array("xxh3");
  const std::uint64_t chunks = (region.payload_bytes - 1) / region.chunk_bytes + 1;
  if (checksums.size() != chunks) {
    fields.fail("xxh3", fmt::format("has {} checksums for {} chunks", checksums.size(), chunks));
  }
  for (const nlohmann::json& checksum : checksums) {
    std::uint64_t hash = 0;
    if (!checksum.is_string() || !hash_from_text(checksum.get_ref<const std::string&>(), hash)) {
      fields.fail("xxh3", "has a checksum that is not sixteen hexadecimal digits");
    }
    region.checksums.push_back(hash);
  }
  return region;
}

void require_payload(const Manifest& m, std::uint32_t region, std::uint64_t expected,
                     const std::string& contents, std::string_view source) {
  if (m.region(region).payload_bytes == expected) return;
  throw Error("{}: {} claims {} payload bytes, but {} make {}: the manifest is damaged", source,
              m.region(region).file, m.region(region).payload_bytes, contents, expected);
}

std::vector<RegionKind> region_kinds(const Manifest& m) {
  if (m.index == IndexKind::cluster) {
    return {records_kind(m.cluster.kind), RegionKind::centroids, RegionKind::clusters};
  }
  if (!m.is_slotted()) return {records_kind(m.layout), RegionKind::codes, RegionKind::offsets};
  std::vector<RegionKind> kinds{RegionKind::records_slotted, RegionKind::codes, RegionKind::pages,
                                RegionKind::entries};
  if (m.slotted.rerank) kinds.push_back(RegionKind::vectors);
  return kinds;
}

void check_slotted_payloads(const Manifest& m, std::string_view source) {
  const std::string pages = fmt::format("{} pages of {} vertices", m.slotted.pages, m.count);
  require_payload(m, kRecordsRegion, m.slotted_geometry().region_bytes() - kRegionHeaderBytes,
                  pages, source);
  require_payload(m, kPagesRegion, PageMap::payload_bytes(m.count), pages, source);
  require_payload(m, kEntriesRegion, m.slotted.entries.payload_bytes(), "its vertices", source);
  if (!m.slotted.rerank) return;
  require_payload(m, kVectorsRegion, m.count * m.geometry().vector_bytes,
                  fmt::format("{} vectors", m.count), source);
}

void read_regions(const JsonFields& fields, Manifest& m, std::string_view source) {
  const nlohmann::json& array = fields.array("regions");
  const auto kinds = region_kinds(m);
  if (array.size() != kinds.size()) {
    fields.fail("regions", fmt::format("does not have {} entries", kinds.size()));
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const JsonFields entry(array[i], fmt::format("{}: regions[{}]", source, i));
    m.regions.push_back(read_region(entry, kinds[i]));
  }
  if (m.index == IndexKind::cluster) {
    require_payload(m, kClustersRegion, std::uint64_t{m.cluster.clusters} * sizeof(ClusterEntry),
                    fmt::format("{} clusters", m.cluster.clusters), source);
    return;
  }
  if (m.is_slotted()) return check_slotted_payloads(m, source);
  const std::string graph = fmt::format("{} vertices with {} edges", m.count, m.edges);
  require_payload(m, kRecordsRegion, region_bytes(m.geometry(), m.edges) - kRegionHeaderBytes,
                  graph, source);
  require_payload(m, kOffsetsRegion, OffsetTable::table_bytes(m.count), graph, source);
}

nlohmann::json parse_text(std::string_view text, std::string_view source) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw Error("{} is not JSON ({}): the manifest is damaged or truncated", source, error.what());
  }
}

}  // namespace

std::string manifest_to_json(const Manifest& m) {
  Json regions = Json::array();
  for (const RegionEntry& region : m.regions) regions.push_back(region_to_json(region));
  Json json = {{"format", kFormat},
               {"format_version", kFormatVersion},
               {"index", to_string(m.index)},
               {"metric", to_string(m.metric)},
               {"stored_type", to_string(m.stored_type)},
               {"source_type", to_string(m.source_type)},
               {"normalised", m.normalised},
               {"dimension", m.dimension},
               {"count", m.count}};
  if (m.index == IndexKind::graph) {
    json["graph"] = graph_to_json(m);
    json["build"] = build_to_json(m.build);
  } else {
    json["cluster"] = cluster_to_json(m);
    json["build"] = cluster_build_to_json(m.cluster_build);
  }
  json["dataset"] = dataset_to_json(m.dataset);
  json["built_by"] = {{"version", m.farvec_version}, {"commit", m.farvec_commit}};
  json["regions"] = std::move(regions);
  if (m.placement) json["placement"] = placement_to_json(*m.placement);
  // A file name need not be UTF-8, the manifest must.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Manifest manifest_from_json(std::string_view text, std::string_view source) {
  const nlohmann::json json = parse_text(text, source);
  const JsonFields fields(json, fmt::format("{}: manifest", source));
  if (fields.text("format") != kFormat) fields.fail("format", "is not farvec-index");
  require_format_version(fields.integer("format_version", 0, kMost64), source);
  Manifest m;
  read_shape(fields, m);
  if (m.index == IndexKind::graph) {
    read_graph(fields.object("graph"), m);
    read_build(fields.object("build"), m.build);
  } else {
    read_cluster(fields.object("cluster"), m);
    read_cluster_build(fields.object("build"), m.cluster_build);
  }
  read_dataset(fields.object("dataset"), m.dataset);
  const JsonFields built_by = fields.object("built_by");
  m.farvec_version = built_by.text("version");
  m.farvec_commit = built_by.text("commit");
  read_regions(fields, m, source);
  if (json.contains("placement")) {
    require_memory_layout(m, source);
    m.placement = placement_from_json(fields.object("placement"), m.region_bytes());
  }
  return m;
}

}  // namespace farvec::layout
