// run_search() does a search that Python asks for, of anything that is open.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "python/arrays.h"
#include "python/searcher.h"

namespace farvec::python {

/// Holds the arguments of a search, as they were given. One that is not given has its usual value,
/// or the most that is allowed where that is less.
struct SearchArguments {
  std::optional<std::int64_t> k;
  std::optional<std::int64_t> list;
  std::int64_t width = 1;
  std::optional<std::int64_t> probe;
  std::optional<float> prune_ratio;
  bool partial = false;
  bool exact = false;
  std::optional<float> within = {};  ///< results are no farther, and as many columns as they need
  double deadline = 10;
  std::string filter = {};
  std::string plan = "chosen";
  std::optional<std::int64_t> refine = {};  ///< for an index with a second copy
  bool candidates = false;
  std::vector<std::string> select = {};
};

/// Says how an array of vectors for `searcher` is read, whether they are queries or rows to insert.
Wish wish_of(const Searcher& searcher);

/// Returns `seconds`. Throws StatusError (invalid_argument) unless a call may take that long.
double checked_deadline(double seconds);

/// Is what Python gets of an Answer.
struct Result {
  nanobind::object ids;
  nanobind::object distances;
  search::QueryCounts counts;
  double coverage = 1;
  /// A dict of the selected columns, or for several queries a list with one for each; None where no
  /// columns were selected.
  nanobind::object attributes = nanobind::none();
};

/// Checks shapes, types and values, gives up the interpreter and searches; signals can interrupt a
/// search of many queries. Throws StatusError.
Result run_search(Searcher& searcher, const AnyArray& queries, const SearchArguments& arguments);

/// Returns the arguments with which the searches of these queries have the recall: of graphs the
/// list, of clusters those to probe, and the list where it matters. Throws StatusError, and Error
/// where the recall is out of reach.
std::map<std::string, std::uint32_t> choose_search(Searcher& searcher, const AnyArray& queries,
                                                   const SearchArguments& arguments, double recall);

/// Searches like run_search() with the vectors of rows, which have these ids, and leaves out of
/// each row's results the row itself. The vectors are in a stored form that queries may have.
Result run_search_near(Searcher& searcher, const VectorView& vectors,
                       std::span<const std::uint64_t> ids, bool as_one,
                       const SearchArguments& arguments);

}  // namespace farvec::python
