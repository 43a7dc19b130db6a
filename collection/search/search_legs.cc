#include "collection/search/search_legs.h"

#include <spdlog/spdlog.h>

namespace farvec::collection {

Status failed_search(const std::exception& error) {
  spdlog::error("a search of a collection has failed: {}", error.what());
  return {StatusCode::internal, "the search failed: the node's log has the reason"};
}

Status CollectionPart::Leg::search() {
  try {
    if (segment != nullptr) return part->search(slot, request, answer);
    search_memtable();
    return {};
  } catch (const std::exception& error) {
    return failed_search(error);
  }
}

/// It does not suspend, because the memtables of a slot share the scratch.
void CollectionPart::Leg::search_memtable() {
  const auto nearest = fresh->memtable->search({.vector = request.query,
                                                .k = request.parameters.k(),
                                                .list = list(),
                                                .count = fresh->count,
                                                .out = *fresh->out},
                                               *memtable);
  answer.found = static_cast<std::uint32_t>(nearest.size());
  for (std::uint32_t i = 0; i < answer.found; ++i) {
    ids[i] = nearest[i].id;
    distances[i] = nearest[i].distance;
  }
  answer.counts.distances = memtable->counts.distances;
}

Status CollectionPart::Leg::ask(const search::SearchRequest& whole, search::SearchChoice choice) {
  const std::uint32_t rows = segment != nullptr ? segment->rows() : fresh->count;
  const std::uint32_t k = std::min(whole.parameters.k(), rows);
  if (auto* graph = std::get_if<search::GraphChoice>(&choice))
    graph->list = std::max(graph->list, k);
  const auto parameters = search::SearchParameters::make(k, choice);
  if (!parameters.ok()) return parameters.status();
  ids.resize(std::max<std::size_t>(ids.size(), k));
  distances.resize(ids.size());
  request = whole;
  request.parameters = parameters.value();
  request.out = out;
  answer = {};
  answer.ids = ids.data();
  answer.distances = distances.data();
  again = true;
  return {};
}

}  // namespace farvec::collection
