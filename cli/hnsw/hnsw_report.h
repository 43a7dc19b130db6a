// What commands say of HNSW graphs on pages, and of work on them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "indexing/hnsw_facts.h"
#include "ssd_baseline/hnsw/hnsw_crew.h"
#include "ssd_baseline/hnsw/paged_hnsw.h"

namespace farvec::cli {

using indexing::hnsw_json;
using ssd_baseline::distances;
using ssd_baseline::hit_ratio;
using ssd_baseline::miss_penalty_us;
using ssd_baseline::pages_of;
using ssd_baseline::visited;

/// Inserts or deletes: how many, how fast, what they read and wrote.
nlohmann::ordered_json work_json(const ssd_baseline::HnswWork& work,
                                 const ssd_baseline::StoreCounts& store, std::uint32_t page_bytes);
void print_work(const char* what, const ssd_baseline::HnswWork& work,
                const ssd_baseline::StoreCounts& store, std::uint32_t page_bytes);

/// By layer, those that were searched: visits, pages, hit ratio, miss penalty.
nlohmann::ordered_json layers_json(const ssd_baseline::HnswCounts& counts);

}  // namespace farvec::cli
