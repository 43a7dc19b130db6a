#include "search/searchers/row_scan.h"

#include <algorithm>
#include <functional>

namespace farvec::search {

Status check_rows(std::span<const NodeId> rows, std::size_t count) {
  const auto repeated = std::adjacent_find(rows.begin(), rows.end(), std::greater_equal<>());
  if (repeated != rows.end()) {
    return {StatusCode::invalid_argument, "the rows to search do not ascend: sort them, each once"};
  }
  if (rows.empty() || rows.back() < count) return {};
  return {StatusCode::invalid_argument, "one of the rows to search is not in the index"};
}

}  // namespace farvec::search
