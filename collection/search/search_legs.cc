#include "collection/search/search_legs.h"

#include <spdlog/spdlog.h>

namespace farvec::collection {

using search::SearchTask;

Status failed_search(const std::exception& error) {
  spdlog::error("a search of a collection has failed: {}", error.what());
  return {StatusCode::internal, "the search failed: the node's log has the reason"};
}

Status CollectionPart::Leg::search() {
  try {
    if (segment != nullptr) return part->search(slot, task);
    search_memtable();
    return {};
  } catch (const std::exception& error) {
    return failed_search(error);
  }
}

/// It does not suspend, because the memtables of a slot share the scratch.
void CollectionPart::Leg::search_memtable() {
  const auto nearest = fresh->memtable->search({.vector = task.query,
                                                .k = task.parameters.k(),
                                                .list = list(),
                                                .count = fresh->count,
                                                .out = *fresh->out},
                                               *memtable);
  task.found = static_cast<std::uint32_t>(nearest.size());
  for (std::uint32_t i = 0; i < task.found; ++i) {
    ids[i] = nearest[i].id;
    distances[i] = nearest[i].distance;
  }
  task.counts.distances = memtable->counts.distances;
}

Status CollectionPart::Leg::ask(const SearchTask& whole, search::SearchChoice choice) {
  const std::uint32_t rows = segment != nullptr ? segment->rows() : fresh->count;
  const std::uint32_t k = std::min(whole.parameters.k(), rows);
  if (auto* graph = std::get_if<search::GraphChoice>(&choice))
    graph->list = std::max(graph->list, k);
  const auto parameters = search::SearchParameters::make(k, choice);
  if (!parameters.ok()) return parameters.status();
  ids.resize(std::max<std::size_t>(ids.size(), k));
  distances.resize(ids.size());
  task = SearchTask{};
  task.query = whole.query;
  task.parameters = parameters.value();
  task.deadline = whole.deadline;
  task.partial = whole.partial;
  task.count_lines = whole.count_lines;
  task.out = out;
  task.started = whole.started;
  task.ids = ids.data();
  task.distances = distances.data();
  again = true;
  return {};
}

}  // namespace farvec::collection
