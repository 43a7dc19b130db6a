#include "collection/search/search_legs.h"

#include <spdlog/spdlog.h>

#include "attributes/condition.h"
#include "attributes/row_words.h"
#include "collection/state/matching_rows.h"
#include "search/filter/filter_plan.h"

namespace farvec::collection {

Status failed_search(const std::exception& error) {
  spdlog::error("a search of a collection has failed: {}", error.what());
  return {StatusCode::internal, "the search failed: the node's log has the reason"};
}

Status CollectionPart::Leg::search() {
  try {
    const Status in_time = search::check_time(request.deadline, request.caller);
    if (!in_time.ok()) return in_time;
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
                                                .out = *out,
                                                .exact = request.exact},
                                               *memtable);
  answer.found = static_cast<std::uint32_t>(nearest.size());
  for (std::uint32_t i = 0; i < answer.found; ++i) {
    ids[i] = nearest[i].id;
    distances[i] = nearest[i].distance;
  }
  answer.counts.distances = memtable->counts.distances;
}

/// Lists the rows of a segment. What is out of it stays out.
void CollectionPart::Leg::scan(const attributes::RowBitmap& matches) {
  attributes::list_rows(matches, wanted);
  if (!gone->empty()) std::erase_if(wanted, [&](NodeId row) { return gone->contains(row); });
  live = wanted.size();
}

/// Says whether the rows that match are compared one by one.
bool CollectionPart::Leg::scans(const Filter& filter, std::uint64_t matches) const {
  switch (filter.plan) {
    case search::FilterPlan::walk:
      return false;
    case search::FilterPlan::scan:
      return search::can_scan(*index);
    case search::FilterPlan::chosen:
      break;
  }
  return matches <= search::most_scanned(*index, filter.list, part->request_bytes());
}

void CollectionPart::Leg::filter_segment(const Filter& filter) {
  const search::RowAttributes& attributes = segment->attributes();
  const RowIds& row_ids = segment->ids();
  auto matches =
      attributes.matching(filter.condition, filter.text, row_ids.rows(), row_ids.lookup(), updates);
  if (filter.further != nullptr) {
    matches = attributes.with_further(
        matches, *filter.further,
        [&](std::span<const std::uint64_t> ids_of_rows, std::vector<NodeId>& rows) {
          row_ids.find_all(ids_of_rows, rows);
        });
  }
  if (scans(filter, matches->cardinality())) return scan(*matches);
  const search::WantedPointer rows = attributes.wanted(matches, gone, *index);
  live = rows->count;
  others = {rows, &rows->others};
  if (others->empty()) return void(out = nullptr);
  out = others.get();
  if (!rows->other_vertices.empty()) out_vertices = &rows->other_vertices;
  by_cluster = rows->by_cluster ? &*rows->by_cluster : nullptr;
}

void CollectionPart::Leg::filter_memtable(const Filter& filter) {
  const std::vector<NodeId> meeting = matching_rows(*fresh, filter.condition);
  const auto is_further = [&](NodeId row) {
    return filter.further != nullptr && !fresh->out->contains(row) &&
           std::ranges::binary_search(filter.further->ids, fresh->memtable->id(row));
  };
  std::vector<NodeId> failing;
  failing.reserve(fresh->count - meeting.size());
  auto next = meeting.begin();
  for (NodeId row = 0; row < fresh->count; ++row) {
    if (next != meeting.end() && *next == row) {
      ++next;
    } else if (!is_further(row)) {
      failing.push_back(row);
    }
  }
  live = fresh->count - failing.size();
  others = std::make_shared<const RowSet>(RowSet().with(failing));
  out = others.get();
}

void CollectionPart::Leg::filter(const Filter& filter) {
  answer = {};
  again = false;
  segment != nullptr ? filter_segment(filter) : filter_memtable(filter);
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
  request.condition = nullptr;  // `out` or `wanted` stands for it
  request.parameters = parameters.value();
  request.out = out;
  request.out_vertices = out_vertices;
  request.matches = by_cluster;
  if (!wanted.empty()) request.only = wanted;
  answer = {};
  answer.ids = ids.data();
  answer.distances = distances.data();
  again = true;
  return {};
}

}  // namespace farvec::collection
