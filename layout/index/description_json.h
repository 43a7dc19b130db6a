// Reads and writes the sections of manifest.json that one kind of index has, and says which regions
// follow from them: an overload of each function for every description. `description` is always the
// manifest's own.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "layout/index/manifest.h"
#include "layout/region/json_fields.h"

namespace farvec::layout {

void add_description(const Manifest& manifest, const GraphDescription& description,
                     nlohmann::ordered_json& json);
void add_description(const Manifest& manifest, const ClusterDescription& description,
                     nlohmann::ordered_json& json);

/// Fills in `description`; `manifest` has what every index has but dataset and regions. Throws
/// Error naming the field.
void read_description(const JsonFields& fields, const Manifest& manifest,
                      GraphDescription& description);
void read_description(const JsonFields& fields, const Manifest& manifest,
                      ClusterDescription& description);

/// Writes steering into a section `build`, where there is something to write, and reads it back.
void add_steering(const std::optional<SteeringFacts>& steering, nlohmann::ordered_json& build);
std::optional<SteeringFacts> read_steering(const JsonFields& build);

struct ExpectedRegion {
  RegionKind kind;
  std::optional<std::uint64_t> payload_bytes = {};  ///< empty: it does not follow from the manifest
  std::string contents = {};                        ///< what takes this many bytes, for messages
};

/// Returns the regions in the order of their numbers.
std::vector<ExpectedRegion> expected_regions(const Manifest& manifest,
                                             const GraphDescription& description);
std::vector<ExpectedRegion> expected_regions(const Manifest& manifest,
                                             const ClusterDescription& description);

}  // namespace farvec::layout
