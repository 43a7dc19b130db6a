// FoundAttributes read the attributes of the rows that a search of a collection has found.
#pragma once

#include <utility>
#include <vector>

#include "base/types.h"
#include "collection/state/view.h"
#include "layout/attributes/tuple.h"
#include "search/core/search_core.h"

namespace farvec::collection {

/// Keeps the view of the search, so that its segments and memtables stay.
class FoundAttributes final : public search::ResultAttributes {
 public:
  FoundAttributes(ViewPointer view, std::vector<RowPlace> rows)
      : view_(std::move(view)), rows_(std::move(rows)) {}

  layout::Tuples read() const override;

 private:
  const ViewPointer view_;
  const std::vector<RowPlace> rows_;
};

}  // namespace farvec::collection
