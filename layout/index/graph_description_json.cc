#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/error.h"
#include "layout/index/description_json.h"
#include "layout/pages/page_map.h"

namespace farvec::layout {
namespace {

using Json = nlohmann::ordered_json;

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

Json graph_to_json(const Manifest& m, const GraphDescription& graph) {
  Json json = {{"layout", to_string(graph.layout)},
               {"record_checksum", graph.record_checksum},
               {"block_bytes", graph.block_bytes},
               {"max_degree", graph.max_degree},
               {"edges", graph.edges},
               {"average_degree", m.average_degree()},
               {"entry", graph.entry}};
  if (graph.layout == LayoutKind::inlined) json["neighbor_code_bytes"] = graph.neighbor_code_bytes;
  if (graph.layout == LayoutKind::packed) json["list_bytes"] = graph.list_bytes;
  if (graph.slotted) json["slotted"] = slotted_to_json(*graph.slotted);
  return json;
}

Json graph_build_to_json(const BuildParameters& build) {
  Json json = {{"degree", build.degree}, {"list", build.list}, {"alpha", build.alpha},
               {"passes", build.passes}, {"seed", build.seed}, {"code_bits", build.code_bits}};
  if (build.merges > 0) json["merges"] = build.merges;
  add_steering(build.steering, json);
  return json;
}

EntryGraphShape read_entries(const JsonFields& fields, const Manifest& m) {
  EntryGraphShape entries;
  const std::uint64_t most = std::min<std::uint64_t>(m.count, EntryGraphShape::kMostVertices);
  entries.vertices = fields.integer32("vertices", 1, most);
  entries.degree = fields.integer32("degree", 1, EntryGraphShape::kMostDegree);
  entries.entry = fields.integer32("entry", 0, m.count - 1);
  return entries;
}

SlottedDescription read_slotted(const JsonFields& fields, const Manifest& m) {
  SlottedDescription slotted;
  slotted.payload = fields.word("payload", parse_payload_kind);
  slotted.extension_bits = fields.integer32("extension_bits", 0, 7);
  slotted.payload_bytes = fields.integer32("payload_bytes", 1, kMaxVectorBytes);
  slotted.pages = fields.integer32("pages", 1, SlottedGeometry::kMostPages);
  slotted.placement = fields.text("placement", 64);
  slotted.rerank = fields.boolean("rerank");
  slotted.affine_pairs = fields.integer("affine_pairs", 0);
  slotted.affine_pairs_together = fields.integer("affine_pairs_together", 0, slotted.affine_pairs);
  slotted.entries = read_entries(fields.object("entries"), m);
  if (slotted.payload == PayloadKind::vector && slotted.payload_bytes != m.vector_bytes()) {
    fields.fail("payload_bytes", "are not those of a vector");
  }
  return slotted;
}

/// Reads the description of a graph in slotted pages; the rest of the description has been read.
void add_slotted(const JsonFields& fields, const Manifest& m, GraphDescription& graph) {
  graph.slotted = read_slotted(fields, m);
  if (graph.record_checksum) fields.fail("payload", "is in pages, which have their own checksums");
  try {
    m.slotted_geometry().validate();
  } catch (const Error& error) {
    throw Error("{}: {}", fields.path(), error.what());
  }
}

void read_graph(const JsonFields& fields, const Manifest& m, GraphDescription& graph) {
  graph.layout = fields.word("layout", parse_layout_kind);
  graph.record_checksum = fields.boolean("record_checksum");
  graph.block_bytes = fields.integer32("block_bytes", 512, 1u << 20);
  graph.max_degree = fields.integer32("max_degree", 1, largest_degree(graph.layout));
  graph.edges = fields.integer("edges", 0, m.count * graph.max_degree);
  graph.entry = fields.integer32("entry", 0, m.count - 1);
  if ((graph.block_bytes & (graph.block_bytes - 1)) != 0) {
    fields.fail("block_bytes", "is no power of two");
  }
  if (graph.layout == LayoutKind::inlined) {
    graph.neighbor_code_bytes =
        fields.integer32("neighbor_code_bytes", 1, GraphGeometry::kMostCodeBytes);
  }
  if (graph.layout == LayoutKind::packed) {
    graph.list_bytes = fields.integer("list_bytes", m.count, m.count * OffsetTable::kMostLength);
  }
  if (graph.layout == LayoutKind::slotted) add_slotted(fields.object("slotted"), m, graph);
}

void read_graph_build(const JsonFields& fields, BuildParameters& build) {
  build.degree = fields.integer32("degree", 0);
  build.list = fields.integer32("list", 0);
  build.alpha = fields.number("alpha", 0, 1e6);
  build.passes = fields.integer32("passes", 0);
  build.seed = fields.integer("seed", 0);
  build.code_bits = fields.integer32("code_bits", 0, 8);
  build.merges = fields.has("merges") ? fields.integer32("merges", 1) : 0;
  build.steering = read_steering(fields);
}

std::vector<ExpectedRegion> slotted_regions(const Manifest& m, const SlottedDescription& slotted) {
  const std::string pages = fmt::format("{} pages of {} vertices", slotted.pages, m.count);
  std::vector<ExpectedRegion> regions{
      {RegionKind::records_slotted, m.slotted_geometry().region_bytes() - kRegionHeaderBytes,
       pages},
      {RegionKind::codes},
      {RegionKind::pages, PageMap::payload_bytes(m.count), pages},
      {RegionKind::entries, slotted.entries.payload_bytes(), "its vertices"}};
  if (slotted.rerank) {
    regions.push_back(
        {RegionKind::vectors, m.count * m.vector_bytes(), fmt::format("{} vectors", m.count)});
  }
  return regions;
}

}  // namespace

void add_description(const Manifest& manifest, const GraphDescription& description, Json& json) {
  FARVEC_CHECK(description.slotted.has_value() == (description.layout == LayoutKind::slotted));
  json["graph"] = graph_to_json(manifest, description);
  json["build"] = graph_build_to_json(description.build);
}

void read_description(const JsonFields& fields, const Manifest& manifest,
                      GraphDescription& description) {
  read_graph(fields.object("graph"), manifest, description);
  read_graph_build(fields.object("build"), description.build);
}

std::vector<ExpectedRegion> expected_regions(const Manifest& manifest,
                                             const GraphDescription& description) {
  if (description.slotted) return slotted_regions(manifest, *description.slotted);
  const std::string graph =
      fmt::format("{} vertices with {} edges", manifest.count, description.edges);
  return {{records_kind(description.layout),
           region_bytes(manifest.graph_geometry(), description.table_total()) - kRegionHeaderBytes,
           graph},
          {RegionKind::codes},
          {RegionKind::offsets, OffsetTable::table_bytes(manifest.count), graph}};
}

}  // namespace farvec::layout
