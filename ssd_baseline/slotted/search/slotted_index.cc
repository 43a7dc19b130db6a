#include "ssd_baseline/slotted/search/slotted_index.h"

#include <utility>

#include "base/error.h"
#include "graph/candidate_list.h"
#include "graph/sampled_graph.h"
#include "quantization/split_codes.h"

namespace farvec::slotted {

SlottedIndex::SlottedIndex(Parts parts)
    : parts_(std::move(parts)),
      codes_(parts_.codes.records()),
      kernel_(distance::pair_kernel(parts_.metric, parts_.type, parts_.dimension)) {
  const layout::SlottedGeometry& geometry = parts_.geometry;
  geometry.validate();
  graph::require_node_count(geometry.count, "vertices");
  const bool code_payload = geometry.payload == layout::PayloadKind::code;
  std::size_t payload_bytes = vector_bytes();
  if (code_payload) {
    split_.emplace(quantization::split_parameters(parts_.codes));
    payload_bytes = split_->extension_bytes();
  } else {
    whole_.emplace(quantization::code_parameters(parts_.codes));
  }
  if (geometry.payload_bytes != payload_bytes) {
    throw Error("the records hold {} bytes beside their neighbours, but {} are needed: rebuild",
                geometry.payload_bytes, payload_bytes);
  }
  parts_.codes.require_records(geometry.count, code().record_bytes());
}

void SlottedIndex::prepare(const std::byte* query, PreparedQuery& out) const {
  out.vector = query;
  if (split_) {
    split_->prepare(query, out.split);
  } else {
    whole_->prepare(query, out.split.code);
  }
}

SlottedIndex load_slotted_index(const layout::IndexDirectory& directory,
                                const layout::LoadOptions& options) {
  const layout::Manifest& manifest = directory.manifest();
  return SlottedIndex({manifest.metric, manifest.stored_type, manifest.dimension,
                       manifest.graph().entry, manifest.slotted_geometry(),
                       directory.load_codes(options), directory.load_entry_graph(options),
                       manifest.slotted().rerank});
}

SearchStart find_start(const SlottedIndex& index, const PreparedQuery& query,
                       graph::BeamScratch& scratch) {
  SearchStart start;
  start.count =
      graph::find_entries(index.entry_graph(), SlottedScorer{index, query},
                          std::span(start.vertices).first(SearchStart::kMostFound), scratch);
  start.vertices[start.count++] = index.entry();
  start.estimates = scratch.counts.estimates + scratch.counts.distances;
  return start;
}

}  // namespace farvec::slotted
