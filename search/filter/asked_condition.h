// parse_condition() for an index, whose rows may have attributes or none.
#pragma once

#include <string>

#include "attributes/condition.h"
#include "search/index/search_index.h"

namespace farvec::search {

/// Parses the condition that results are to meet; null for an empty text. Throws StatusError
/// (invalid_argument) that begins with `name`, the option or the argument: where the rows of the
/// index have no attributes too.
attributes::ConditionPointer asked_condition(const SearchIndex& index, const std::string& text,
                                             const char* name);

}  // namespace farvec::search
