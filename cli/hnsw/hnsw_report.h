// What commands say of HNSW graphs on pages, and of work on them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "ssd_baseline/hnsw/hnsw_crew.h"
#include "ssd_baseline/hnsw/paged_hnsw.h"

namespace farvec::cli {

/// Sums over the layers.
ssd_baseline::FetchCounts pages_of(const ssd_baseline::HnswCounts& counts);
std::uint64_t visited(const ssd_baseline::HnswCounts& counts);
std::uint64_t distances(const ssd_baseline::HnswCounts& counts);

/// Hits over pages asked for; 1 when none was.
double hit_ratio(const ssd_baseline::FetchCounts& pages);
/// Microseconds that one missing page makes its search wait; 0 when none was missing.
double miss_penalty_us(const ssd_baseline::FetchCounts& pages);

/// What a graph is: parameters, counts, pages by kind.
nlohmann::ordered_json hnsw_json(const ssd_baseline::HnswDescription& description);

/// Inserts or deletes: how many, how fast, what they read and wrote.
nlohmann::ordered_json work_json(const ssd_baseline::HnswWork& work,
                                 const ssd_baseline::StoreCounts& store, std::uint32_t page_bytes);
void print_work(const char* what, const ssd_baseline::HnswWork& work,
                const ssd_baseline::StoreCounts& store, std::uint32_t page_bytes);

/// By layer, those that were searched: visits, pages, hit ratio, miss penalty.
nlohmann::ordered_json layers_json(const ssd_baseline::HnswCounts& counts);

}  // namespace farvec::cli
