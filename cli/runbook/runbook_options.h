// Declares the options that every kind of index in a runbook takes.
#pragma once

#include <cstdint>
#include <string>

#include "attributes/condition.h"
#include "base/error.h"
#include "cli/hnsw/page_options.h"
#include "layout/attributes/schema.h"

namespace farvec::cli {

struct RunbookOptions {
  std::string folder;       ///< folder of the index, which is made
  std::uint32_t k = 10;     ///< neighbours wanted
  std::uint32_t list = 40;  ///< candidates of a search, where graphs are searched
  std::string filter;       ///< condition that results meet; empty: none
  PageAccess access;        ///< threads, slots and durability; the rest is of graphs on pages
};

/// Returns null where there is no filter. Throws Error naming the option.
inline attributes::ConditionPointer condition_of(const RunbookOptions& run,
                                                 const layout::Schema& schema) {
  if (run.filter.empty()) return nullptr;
  try {
    return attributes::parse_condition(run.filter, schema);
  } catch (const Error& error) {
    throw Error("--filter: {}", error.what());
  }
}

}  // namespace farvec::cli
