// Reports HNSW graphs on pages, and work on them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "ssd_baseline/paged/cores/hnsw_crew.h"
#include "ssd_baseline/paged/graph/hnsw_facts.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"

namespace farvec::measure {

using paged::distances;
using paged::hit_ratio;
using paged::hnsw_json;
using paged::miss_penalty_us;
using paged::pages_of;
using paged::visited;

/// Returns what inserts or deletes did: how many there were, how fast, and what they read and
/// wrote.
nlohmann::ordered_json work_json(const paged::HnswWork& work, const paged::StoreCounts& store,
                                 std::uint32_t page_bytes);
void print_work(const char* what, const paged::HnswWork& work, const paged::StoreCounts& store,
                std::uint32_t page_bytes);

/// Returns visits, pages, hit ratio and miss penalty of each layer that was searched.
nlohmann::ordered_json layers_json(const paged::HnswCounts& counts);

}  // namespace farvec::measure
