// list_rows() counts the rows of a view that meet a condition, and lists them in the order of their
// ids.
#pragma once

#include <string>

#include "attributes/condition.h"
#include "base/progress.h"
#include "changes/listed_rows.h"
#include "collection/state/view.h"
#include "layout/attributes/schema.h"

namespace farvec::collection {

/// Parses the text of a filter; an empty one is true for every row. Throws StatusError
/// (invalid_argument) that begins with "filter: ".
attributes::ConditionPointer parse_filter(const std::string& filter, const layout::Schema& schema);

/// Lists at most asked.most rows, fewer where their attributes take changes::kMostReadAttributes.
/// Throws what parse_filter() throws, WorkInterrupted, and Error naming a file of attributes that
/// cannot be read.
changes::ListedRows list_rows(const View& view, const changes::Listing& asked,
                              const Interruption& interrupted);

}  // namespace farvec::collection
