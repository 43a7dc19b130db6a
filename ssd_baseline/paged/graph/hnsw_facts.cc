#include "ssd_baseline/paged/graph/hnsw_facts.h"

namespace farvec::paged {

nlohmann::ordered_json hnsw_json(const HnswDescription& description) {
  const layout::HnswState& state = description.state;
  const auto pages = [&](layout::HnswPageKind kind) {
    return state.pages[static_cast<std::size_t>(kind)];
  };
  // Version 1 does not count them.
  nlohmann::ordered_json insert_pages;
  if (description.format_version > 1) insert_pages = state.insert_pages;
  return {{"kind", "hnsw"},
          {"count", state.vertices},
          {"marked", state.marked},
          {"dimension", description.config.dimension},
          {"type", to_string(description.config.type)},
          {"metric", to_string(description.config.metric)},
          {"m", description.config.m},
          {"ef_construction", description.config.ef_construction},
          {"seed", description.config.seed},
          {"entry_level", state.entry_level},
          {"page_bytes", description.page_bytes},
          {"pages", description.pages},
          {"vertex_pages", pages(layout::HnswPageKind::vertices)},
          {"id_map_pages", pages(layout::HnswPageKind::id_map)},
          {"partition_pages", pages(layout::HnswPageKind::partitions)},
          {"insert_pages", insert_pages},
          {"most_insert_pages", description.config.most_insert_pages / 1e6},
          {"bytes", description.bytes()}};
}

}  // namespace farvec::paged
