#include <fmt/format.h>

#include "base/error.h"
#include "layout/index/description_json.h"

namespace farvec::layout {
namespace {

using Json = nlohmann::ordered_json;

Json cluster_to_json(const ClusterDescription& description) {
  const ClusterGeometry& geometry = description.geometry;
  Json json{
      {"layout", to_string(geometry.kind)},      {"record_checksum", geometry.record_checksum},
      {"clusters", geometry.clusters},           {"members", geometry.members},
      {"address_bytes", geometry.address_bytes}, {"block_bytes", geometry.block_bytes},
      {"replication", description.replication}};
  if (geometry.has_codes()) {
    json["code_bits"] = geometry.code_bits;
    json["code_block_bytes"] = geometry.code_block_bytes;
  }
  return json;
}

Json cluster_build_to_json(const ClusterBuildParameters& build) {
  Json json{{"replicas", build.replicas},
            {"heads", to_string(build.heads)},
            {"closure", to_string(build.closure)},
            {"closure_ratio", build.closure_ratio},
            {"rng_factor", build.rng_factor},
            {"balance", build.balance},
            {"sample", build.sample},
            {"seed", build.seed}};
  add_steering(build.steering, json);
  return json;
}

void read_replication(const JsonFields& fields, const Manifest& m,
                      ClusterDescription& description) {
  const nlohmann::json& array = fields.array("replication");
  if (array.size() != description.replication.size()) {
    fields.fail("replication", "has not eight numbers");
  }
  std::uint64_t vectors = 0;
  std::uint64_t members = 0;
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (!array[i].is_number_unsigned() || array[i].get<std::uint64_t>() > m.count) {
      fields.fail("replication", "has something else than counts of vectors");
    }
    description.replication[i] = array[i].get<std::uint64_t>();
    vectors += description.replication[i];
    members += (i + 1) * description.replication[i];
  }
  if (vectors != m.count || members != description.geometry.members) {
    fields.fail("replication", "does not add up to the vectors and members");
  }
}

ClusterGeometry read_cluster_geometry(const JsonFields& fields, const Manifest& m) {
  ClusterGeometry geometry;
  geometry.kind = fields.word("layout", parse_cluster_layout);
  geometry.record_checksum = fields.boolean("record_checksum");
  geometry.clusters = fields.integer32("clusters", 1, m.count);
  geometry.members = fields.integer("members", m.count, m.count * kMaxReplicas);
  geometry.address_bytes = fields.integer32("address_bytes", 3, 4);
  geometry.block_bytes = fields.integer32("block_bytes", 512, kRegionHeaderBytes);
  if (geometry.has_codes()) {
    geometry.code_bits = fields.integer32("code_bits", 1, 8);
    geometry.code_block_bytes = fields.integer32("code_block_bytes", 1);
  }
  geometry.count = m.count;
  geometry.vector_bytes = m.vector_bytes();
  return geometry;
}

void read_cluster(const JsonFields& fields, const Manifest& m, ClusterDescription& description) {
  description.geometry = read_cluster_geometry(fields, m);
  read_replication(fields, m, description);
  try {
    description.geometry.validate();
  } catch (const Error& error) {
    throw Error("{}: {}", fields.path(), error.what());
  }
}

void read_cluster_build(const JsonFields& fields, ClusterBuildParameters& build) {
  build.replicas = fields.integer32("replicas", 1, kMaxReplicas);
  // Missing in indexes from before there was a choice.
  if (fields.has("heads")) build.heads = fields.word("heads", parse_heads);
  if (fields.has("closure")) build.closure = fields.word("closure", parse_closure);
  build.closure_ratio = fields.number("closure_ratio", 0, 1e6);
  if (fields.has("rng_factor")) build.rng_factor = fields.number("rng_factor", 0, 1e6);
  build.balance = fields.number("balance", 0, 1e6);
  build.sample = fields.integer("sample", 0);
  build.seed = fields.integer("seed", 0);
  build.steering = read_steering(fields);
}

}  // namespace

void add_description(const Manifest&, const ClusterDescription& description, Json& json) {
  json["cluster"] = cluster_to_json(description);
  json["build"] = cluster_build_to_json(description.build);
}

void read_description(const JsonFields& fields, const Manifest& manifest,
                      ClusterDescription& description) {
  read_cluster(fields.object("cluster"), manifest, description);
  read_cluster_build(fields.object("build"), description.build);
}

std::vector<ExpectedRegion> expected_regions(const Manifest&,
                                             const ClusterDescription& description) {
  const std::uint32_t clusters = description.geometry.clusters;
  return {{records_kind(description.geometry.kind)},
          {RegionKind::centroids},
          {RegionKind::clusters, std::uint64_t{clusters} * sizeof(ClusterEntry),
           fmt::format("{} clusters", clusters)}};
}

}  // namespace farvec::layout
