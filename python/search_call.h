// A search as Python asks for it, of whatever is open.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>

#include "python/arrays.h"
#include "python/searcher.h"

namespace farvec::python {

/// The arguments of a search, as they were given. What is not given is as usual, or as much as
/// there may be where that is less.
struct SearchArguments {
  std::optional<std::int64_t> k;
  std::optional<std::int64_t> list;
  std::int64_t width = 1;
  std::optional<std::int64_t> probe;
  std::optional<float> prune_ratio;
  bool partial = false;
  double deadline = 10;
};

/// Throws StatusError (invalid_argument) unless it is a time that a call may take.
double checked_deadline(double seconds);

/// What Python gets of an Answer.
struct Result {
  nanobind::object ids;
  nanobind::object distances;
  search::QueryCounts counts;
  double coverage = 1;
};

/// Checks shapes, types and values, gives up the interpreter and searches; many queries can be
/// interrupted by signals. Throws StatusError.
Result run_search(Searcher& searcher, const AnyArray& queries, const SearchArguments& arguments);

}  // namespace farvec::python
