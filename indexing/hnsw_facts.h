// What programs say of HNSW graphs on pages.
#pragma once

#include <nlohmann/json.hpp>

#include "ssd_baseline/hnsw/paged_hnsw.h"

namespace farvec::indexing {

/// What a graph is: parameters, counts, pages by kind.
nlohmann::ordered_json hnsw_json(const ssd_baseline::HnswDescription& description);

}  // namespace farvec::indexing
