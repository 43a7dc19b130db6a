#include "collection/read/list_rows.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/status_error.h"
#include "changes/receipt.h"
#include "collection/state/matching_rows.h"

namespace farvec::collection {
namespace {

struct Place {
  std::uint64_t id = 0;
  const MatchingRows* part = nullptr;
  NodeId row = 0;

  bool operator<(const Place& other) const { return id < other.id; }
};

/// Returns the `most` least ids from `from` on, ascending, and one more where there is one.
std::vector<Place> least_ids(const std::vector<MatchingRows>& parts, std::uint64_t from,
                             std::size_t most) {
  std::vector<Place> least;  // a heap, the greatest first
  for (const MatchingRows& part : parts) {
    for (const NodeId row : part.rows) {
      const Place place{part.id(row), &part, row};
      if (place.id < from) continue;
      if (least.size() > most && !(place < least.front())) continue;
      least.push_back(place);
      std::push_heap(least.begin(), least.end());
      if (least.size() <= most + 1) continue;
      std::pop_heap(least.begin(), least.end());
      least.pop_back();
    }
  }
  std::sort_heap(least.begin(), least.end());
  return least;
}

}  // namespace

attributes::ConditionPointer parse_filter(const std::string& filter, const layout::Schema& schema) {
  try {
    return attributes::parse_condition(filter.empty() ? "true" : filter, schema);
  } catch (const Error& error) {
    throw StatusError(StatusCode::invalid_argument, "filter: {}", error.what());
  }
}

changes::ListedRows list_rows(const View& view, const changes::Listing& asked,
                              const Interruption& interrupted) {
  const attributes::ConditionPointer condition = parse_filter(asked.filter, *view.schema);
  const std::vector<MatchingRows> parts = matching_rows(view, *condition, interrupted);
  changes::ListedRows listed{.version = view.version};
  for (const MatchingRows& part : parts) listed.matches += part.rows.size();
  if (asked.most == 0) return listed;
  for (const Place& place : least_ids(parts, asked.from, asked.most)) {
    listed.more = listed.ids.size() == asked.most ||
                  listed.attributes.bytes.size() >= changes::kMostReadAttributes;
    if (listed.more) break;
    if (asked_to_end(interrupted)) throw WorkInterrupted();
    listed.ids.push_back(place.id);
    if (!asked.attributes || view.schema->empty()) continue;
    place.part->place(place.row).append_attributes(listed.attributes);
  }
  return listed;
}

}  // namespace farvec::collection
