// Reads and writes the sections of manifest.json that one kind of index has, and says which regions
// follow from them: an overload of each function for every part. `part` is always the manifest's
// own.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "layout/index/manifest.h"
#include "layout/region/json_fields.h"

namespace farvec::layout {

void add_part(const Manifest& manifest, const GraphPart& part, nlohmann::ordered_json& json);
void add_part(const Manifest& manifest, const ClusterPart& part, nlohmann::ordered_json& json);

/// Fills in `part`; `manifest` has what every index has but dataset and regions. Throws Error
/// naming the field.
void read_part(const JsonFields& fields, const Manifest& manifest, GraphPart& part);
void read_part(const JsonFields& fields, const Manifest& manifest, ClusterPart& part);

/// Writes steering into a section `build`, where there is something to write, and reads it back.
void add_steering(const std::optional<SteeringFacts>& steering, nlohmann::ordered_json& build);
std::optional<SteeringFacts> read_steering(const JsonFields& build);

struct ExpectedRegion {
  RegionKind kind;
  std::optional<std::uint64_t> payload_bytes = {};  ///< empty: it does not follow from the manifest
  std::string contents = {};                        ///< what takes this many bytes, for messages
};

/// Returns the regions in the order of their numbers.
std::vector<ExpectedRegion> expected_regions(const Manifest& manifest, const GraphPart& part);
std::vector<ExpectedRegion> expected_regions(const Manifest& manifest, const ClusterPart& part);

}  // namespace farvec::layout
