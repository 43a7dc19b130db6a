// Reads and writes the manifest's placement section.
#pragma once

#include <array>
#include <nlohmann/json.hpp>

#include "layout/index/placement.h"
#include "layout/region/json_fields.h"

namespace farvec::layout {

nlohmann::ordered_json placement_to_json(const Placement& placement);

/// `region_bytes` are the lengths of the whole regions. Throws Error naming field or extent.
Placement placement_from_json(const JsonFields& fields,
                              const std::array<std::uint64_t, kRegionCount>& region_bytes);

}  // namespace farvec::layout
