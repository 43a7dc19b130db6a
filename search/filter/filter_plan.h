// These functions decide how an index is searched among rows that meet a condition.
#pragma once

#include <cstdint>

#include "search/index/search_index.h"

namespace farvec::search {

/// Says whether rows can be read by their numbers. They cannot in packed records, which alone say
/// which row they have, unless find_rows() has learned it; and in clusters, whose searches are told
/// which clusters have the rows.
bool can_scan(const SearchIndex& index);

/// Up to this many rows are always compared one by one: to estimate them takes some 0.3 ms. A walk
/// passes most of the graph where the rows that match are far from the query, which their
/// number does not say.
inline constexpr std::uint64_t kFewRows = 8192;

/// Returns up to how many rows are compared with a query one by one. A search of the graph with
/// `list` that wants m of n rows reads the records of about list * n / m of them, since it passes
/// those that it does not want. Comparing m rows reads m records, or estimates from codes in DRAM
/// what is near. A read takes as long as the estimates of the neighbours that it brings, and on a
/// tier with `request_bytes` (CorePart::request_bytes()) as long as those that are made meanwhile.
/// At least kFewRows, however large the index. 0 where rows cannot be read by their numbers.
std::uint64_t most_scanned(const SearchIndex& index, std::uint32_t list,
                           std::uint32_t request_bytes);

}  // namespace farvec::search
