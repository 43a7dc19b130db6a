// What commands say of HNSW graphs on pages, and of work on them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "ssd_baseline/paged/change/hnsw_crew.h"
#include "ssd_baseline/paged/graph/hnsw_facts.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"

namespace farvec::measure {

using paged::distances;
using paged::hit_ratio;
using paged::hnsw_json;
using paged::miss_penalty_us;
using paged::pages_of;
using paged::visited;

/// Inserts or deletes: how many, how fast, what they read and wrote.
nlohmann::ordered_json work_json(const paged::HnswWork& work, const paged::StoreCounts& store,
                                 std::uint32_t page_bytes);
void print_work(const char* what, const paged::HnswWork& work, const paged::StoreCounts& store,
                std::uint32_t page_bytes);

/// By layer, those that were searched: visits, pages, hit ratio, miss penalty.
nlohmann::ordered_json layers_json(const paged::HnswCounts& counts);

}  // namespace farvec::measure
