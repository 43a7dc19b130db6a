// Declares the options that every kind of index in a runbook takes.
#pragma once

#include <cstdint>
#include <string>

#include "cli/hnsw/page_options.h"

namespace farvec::cli {

struct RunbookOptions {
  std::string folder;       ///< folder of the index, which is made
  std::uint32_t k = 10;     ///< neighbours wanted
  std::uint32_t list = 40;  ///< candidates of a search, where graphs are searched
  std::string filter;       ///< condition that results meet; empty: none
  PageAccess access;        ///< threads, slots and durability; the rest is of graphs on pages
};

}  // namespace farvec::cli
