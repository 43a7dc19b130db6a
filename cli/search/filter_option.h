// This header parses what --filter says of the rows of a collection.
#pragma once

#include <string>

#include "attributes/condition.h"
#include "base/error.h"
#include "layout/attributes/schema.h"

namespace farvec::cli {

/// Returns null where there is no text. Throws Error naming the option.
inline attributes::ConditionPointer parse_filter(const std::string& text,
                                                 const layout::Schema& schema) {
  if (text.empty()) return nullptr;
  try {
    return attributes::parse_condition(text, schema);
  } catch (const Error& error) {
    throw Error("--filter: {}", error.what());
  }
}

}  // namespace farvec::cli
