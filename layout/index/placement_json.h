// Reads and writes the manifest's placement section.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>

#include "layout/index/placement.h"
#include "layout/region/json_fields.h"

namespace farvec::layout {

nlohmann::ordered_json placement_to_json(const Placement& placement);

/// `region_bytes` are the lengths of the whole regions, by which the section has an entry for each.
/// Throws Error naming field or extent.
Placement placement_from_json(const JsonFields& fields,
                              std::span<const std::uint64_t> region_bytes);

}  // namespace farvec::layout
