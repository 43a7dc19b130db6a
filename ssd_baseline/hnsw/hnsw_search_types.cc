#include "ssd_baseline/hnsw/hnsw_search_types.h"

#include "base/error.h"

namespace farvec::ssd_baseline {

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
  cut_short += other.cut_short;
  return *this;
}

}  // namespace farvec::ssd_baseline
