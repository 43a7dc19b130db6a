#include "collection/state/matching_rows.h"

#include <string>

namespace farvec::collection {
namespace {

std::vector<NodeId> rows_of_segment(const View::Bulk& bulk, const attributes::Condition& condition,
                                    const std::string& text) {
  std::vector<NodeId> rows;
  const RowIds& ids = bulk.segment->ids();
  const auto matches =
      bulk.segment->attributes().matching(condition, text, ids.rows(), ids.lookup(), bulk.updates);
  for (const NodeId row : *matches) {
    if (!bulk.out->contains(row)) rows.push_back(row);
  }
  return rows;
}

}  // namespace

std::vector<NodeId> matching_rows(const View::Fresh& fresh,
                                  const attributes::Condition& condition) {
  std::vector<NodeId> rows;
  for (NodeId row = 0; row < fresh.count; ++row) {
    if (fresh.out->contains(row)) continue;
    const layout::Tuple tuple(fresh.attributes(row));
    const attributes::Truth truth = evaluate(condition, tuple, fresh.memtable->id(row));
    if (truth == attributes::Truth::yes) rows.push_back(row);
  }
  return rows;
}

std::vector<MatchingRows> matching_rows(const View& view, const attributes::Condition& condition,
                                        const Interruption& interrupted) {
  const std::string text = to_string(condition);
  std::vector<MatchingRows> parts;
  for (const View::Bulk& bulk : view.segments) {
    if (asked_to_end(interrupted)) throw WorkInterrupted();
    parts.push_back({.bulk = &bulk, .rows = rows_of_segment(bulk, condition, text)});
  }
  for (const View::Fresh& fresh : view.memtables) {
    if (asked_to_end(interrupted)) throw WorkInterrupted();
    parts.push_back({.fresh = &fresh, .rows = matching_rows(fresh, condition)});
  }
  return parts;
}

}  // namespace farvec::collection
