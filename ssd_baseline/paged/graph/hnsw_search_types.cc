#include "ssd_baseline/paged/graph/hnsw_search_types.h"

#include "base/clock.h"
#include "base/error.h"

namespace farvec::paged {

std::string_view to_string(ReadMode mode) {
  switch (mode) {
    case ReadMode::sync:
      return "sync";
    case ReadMode::parallel:
      return "parallel";
    default:
      return "pipelined";
  }
}

ReadMode parse_read_mode(std::string_view text) {
  for (const ReadMode mode : {ReadMode::sync, ReadMode::parallel, ReadMode::pipelined}) {
    if (text == to_string(mode)) return mode;
  }
  throw Error("'{}' is no way of reading: use sync, parallel or pipelined", text);
}

FetchCounts& operator+=(FetchCounts& counts, const FetchCounts& other) {
  counts.asked += other.asked;
  counts.hits += other.hits;
  counts.joined += other.joined;
  counts.waited += other.waited;
  return counts;
}

HnswCounts& HnswCounts::operator+=(const HnswCounts& other) {
  for (std::size_t l = 0; l < layers.size(); ++l) {
    layers[l].visited += other.layers[l].visited;
    layers[l].expanded += other.layers[l].expanded;
    layers[l].distances += other.layers[l].distances;
    layers[l].pages += other.layers[l].pages;
  }
  meta += other.meta;
  selection += other.selection;
  selected_between += other.selected_between;
  return *this;
}

FetchCounts pages_of(const HnswCounts& counts) {
  FetchCounts sum;
  for (const HnswLayerCounts& layer : counts.layers) sum += layer.pages;
  return sum;
}

std::uint64_t visited(const HnswCounts& counts) {
  std::uint64_t sum = 0;
  for (const HnswLayerCounts& layer : counts.layers) sum += layer.visited;
  return sum;
}

std::uint64_t distances(const HnswCounts& counts) {
  std::uint64_t sum = 0;
  for (const HnswLayerCounts& layer : counts.layers) sum += layer.distances;
  return sum;
}

double hit_ratio(const FetchCounts& pages) {
  if (pages.asked == 0) return 1;
  return static_cast<double>(pages.hits) / static_cast<double>(pages.asked);
}

double miss_penalty_us(const FetchCounts& pages) {
  const std::uint64_t missed = pages.asked - pages.hits;
  return missed == 0 ? 0 : ticks_to_us(pages.waited) / static_cast<double>(missed);
}

}  // namespace farvec::paged
