// hnsw_json() is what programs say of an HNSW graph on pages.
#pragma once

#include <nlohmann/json.hpp>

#include "ssd_baseline/paged/graph/paged_hnsw.h"

namespace farvec::paged {

/// What a graph is: parameters, counts, pages by kind.
nlohmann::ordered_json hnsw_json(const HnswDescription& description);

}  // namespace farvec::paged
