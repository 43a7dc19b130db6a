// These types say how pages of an HNSW graph are read, and what searches of it cost.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "graph/hnsw/levels.h"
#include "ssd_baseline/paged/store/page_fetcher.h"

namespace farvec::paged {

/// How the pages of a vertex's unvisited neighbours are read. A page that holds several of them is
/// read once in every mode, and every mode gives the same answers and counts of visits.
enum class ReadMode : std::uint8_t {
  sync,       ///< a page at a time, in order
  parallel,   ///< all that are not in the buffer at once; scored when all have come
  pipelined,  ///< the same reads; those in the buffer are scored meanwhile, the rest as they come
};

/// Returns "sync", "parallel" or "pipelined".
std::string_view to_string(ReadMode mode);
/// Throws Error naming the accepted words.
ReadMode parse_read_mode(std::string_view text);

struct HnswReadOptions {
  ReadMode mode = ReadMode::pipelined;
  /// For pipelined: a fiber goes on when this many of the pages under way have come; 1 or more.
  std::uint32_t min_complete = 6;
};

/// HnswLayerCounts are the counts of one layer.
struct HnswLayerCounts {
  std::uint64_t visited = 0;    ///< vertices whose distance to the query was asked for
  std::uint64_t expanded = 0;   ///< vertices whose neighbours were read
  std::uint64_t distances = 0;  ///< to the query
  FetchCounts pages;            ///< asked, hits, joined; `waited` is the miss penalty
};

/// The counts since the last clear(); the owner adds them up in any way it needs.
struct HnswCounts {
  std::array<HnswLayerCounts, graph::kLayers> layers{};
  FetchCounts meta;                    ///< the meta page and the id map
  FetchCounts selection;               ///< vectors that selections compare, lists they change
  std::uint64_t selected_between = 0;  ///< distances between candidates

  void clear() { *this = {}; }
  HnswCounts& operator+=(const HnswCounts& other);
};

FetchCounts& operator+=(FetchCounts& counts, const FetchCounts& other);

/// These sum over the layers.
FetchCounts pages_of(const HnswCounts& counts);
std::uint64_t visited(const HnswCounts& counts);
std::uint64_t distances(const HnswCounts& counts);

/// Returns hits over pages asked for; 1 when none was.
double hit_ratio(const FetchCounts& pages);
/// Returns the microseconds that one missing page makes its search wait; 0 when none was missing.
double miss_penalty_us(const FetchCounts& pages);

}  // namespace farvec::paged
