#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "layout/index/description_json.h"
#include "layout/index/manifest.h"
#include "layout/index/placement_json.h"
#include "layout/index/second_copy.h"
#include "layout/region/json_fields.h"

namespace farvec::layout {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "farvec-index";
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

Json dataset_to_json(const DatasetFingerprint& dataset) {
  return {{"name", dataset.name},
          {"file", dataset.file},
          {"row_bytes", dataset.row_bytes},
          {"rows_hashed", dataset.rows_hashed},
          {"xxh3", hash_to_text(dataset.xxh3)}};
}

/// An empty description of each kind.
template <typename... Description>
std::vector<IndexDescription> empty_descriptions(const std::variant<Description...>&) {
  return {IndexDescription(Description())...};
}

/// An empty description of the kind that the manifest names.
IndexDescription read_kind(const JsonFields& fields) {
  const std::string& index = fields.text("index");
  std::string known;
  for (IndexDescription& description : empty_descriptions(IndexDescription())) {
    const std::string_view name = to_string(kind_of(description));
    if (index == name) return std::move(description);
    known += fmt::format("{}'{}'", known.empty() ? "" : " or ", name);
  }
  fields.fail("index", fmt::format("is '{}', not {}", index, known));
}

SecondCopyEntry read_second_copy(const JsonFields& fields) {
  const SecondCopyEntry second{.type = fields.word("type", parse_element_type),
                               .header_checksum = fields.hash("header_xxh3")};
  if (second.type == ElementType::b1) fields.fail("type", "is b1, and a second copy has numbers");
  return second;
}

Json second_copy_to_json(const SecondCopyEntry& second) {
  return {{"type", to_string(second.type)}, {"header_xxh3", hash_to_text(second.header_checksum)}};
}

void read_shape(const JsonFields& fields, Manifest& m) {
  m.metric = fields.word("metric", parse_metric);
  m.stored_type = fields.word("stored_type", parse_element_type);
  m.source_type = fields.word("source_type", parse_element_type);
  if (fields.boolean("normalised") != m.normalised()) {
    fields.fail("normalised", "contradicts the metric");
  }
  if (!can_compare(m.metric, m.stored_type)) {
    fields.fail("metric", fmt::format("is {}, which cannot compare {}", to_string(m.metric),
                                      to_string(m.stored_type)));
  }
  m.dimension = fields.integer32("dimension", 1, max_dimension(m.stored_type));
  m.count = fields.integer("count", 1, kInvalidNode - 1);
  if (fields.has("second_copy")) m.second_copy = read_second_copy(fields.object("second_copy"));
}

void read_dataset(const JsonFields& fields, DatasetFingerprint& dataset) {
  dataset.name = fields.text("name");
  dataset.file = fields.text("file");
  dataset.row_bytes = fields.integer("row_bytes", 1, kMaxVectorBytes);
  dataset.rows_hashed = fields.integer("rows_hashed", 0);
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

void require_payload(const RegionEntry& region, const ExpectedRegion& expected,
                     std::string_view source) {
  if (!expected.payload_bytes || region.payload_bytes == *expected.payload_bytes) return;
  throw Error("{}: {} claims {} payload bytes, but {} make {}: the manifest is damaged", source,
              region.file, region.payload_bytes, expected.contents, *expected.payload_bytes);
}

void read_regions(const JsonFields& fields, Manifest& m, std::string_view source) {
  const nlohmann::json& array = fields.array("regions");
  const auto expected = std::visit(
      [&](const auto& description) { return expected_regions(m, description); }, m.description);
  if (array.size() != expected.size()) {
    fields.fail("regions", fmt::format("does not have {} entries", expected.size()));
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const JsonFields entry(array[i], fmt::format("{}: regions[{}]", source, i));
    m.regions.push_back(read_region(entry, expected[i].kind));
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    require_payload(m.regions[i], expected[i], source);
  }
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
               {"index", to_string(m.kind())},
               {"metric", to_string(m.metric)},
               {"stored_type", to_string(m.stored_type)},
               {"source_type", to_string(m.source_type)},
               {"normalised", m.normalised()},
               {"dimension", m.dimension},
               {"count", m.count}};
  if (m.second_copy) json["second_copy"] = second_copy_to_json(*m.second_copy);
  std::visit([&](const auto& description) { add_description(m, description, json); },
             m.description);
  json["dataset"] = dataset_to_json(m.dataset);
  json["built_by"] = {{"version", m.farvec_version}, {"commit", m.farvec_commit}};
  json["regions"] = std::move(regions);
  if (m.placement) json["placement"] = placement_to_json(*m.placement);
  // A file name may not be UTF-8, but the manifest must be.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Manifest manifest_from_json(std::string_view text, std::string_view source) {
  const nlohmann::json json = parse_text(text, source);
  const JsonFields fields(json, fmt::format("{}: manifest", source));
  if (fields.text("format") != kFormat) fields.fail("format", "is not farvec-index");
  require_format_version(fields.integer("format_version", 0), source);
  Manifest m;
  m.description = read_kind(fields);
  read_shape(fields, m);
  std::visit([&](auto& description) { read_description(fields, m, description); }, m.description);
  read_dataset(fields.object("dataset"), m.dataset);
  const JsonFields built_by = fields.object("built_by");
  m.farvec_version = built_by.text("version");
  m.farvec_commit = built_by.text("commit");
  read_regions(fields, m, source);
  if (json.contains("placement")) {
    require_memory_layout(m, source);
    m.placement = placement_from_json(fields.object("placement"), m.held_bytes());
    require_whole_rows(m, source);
  }
  return m;
}

}  // namespace farvec::layout
