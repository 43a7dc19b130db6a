#include "python/search_call.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "python/attributes.h"
#include "python/errors.h"
#include "python/jobs.h"
#include "python/others_may_run.h"

namespace farvec::python {
namespace {

namespace nb = nanobind;

/// More queries than this may take so long that a user wants to end them.
constexpr std::size_t kQuickQueries = 256;
constexpr std::uint32_t kUsualK = 10;
constexpr std::uint32_t kUsualList = 64;
constexpr std::uint32_t kUsualProbe = 16;
constexpr double kLongestSeconds = 86'400;

std::uint32_t usual_k(const search::SearchBounds& most) {
  const std::uint64_t k = std::min<std::uint64_t>({kUsualK, most.vectors, most.k, most.list});
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(k, 1));
}

search::AskedSearch asked_search(const SearchArguments& given, const search::SearchBounds& most) {
  search::AskedSearch asked;
  asked.k = given.k ? to_count(*given.k, "k") : usual_k(most);
  asked.list = given.list ? to_count(*given.list, "list")
                          : std::max(std::min(kUsualList, most.list), asked.k);
  asked.width = to_count(given.width, "width");
  asked.probing.clusters = given.probe ? to_count(*given.probe, "probe")
                                       : std::min(kUsualProbe, std::max(most.clusters, 1u));
  if (given.prune_ratio) asked.probing.prune_ratio = *given.prune_ratio;
  asked.partial = given.partial;
  asked.exact = given.exact;
  asked.filter = given.filter;
  asked.select = given.select;
  return asked;
}

void check_queries(const Searcher& searcher, const Rows& queries) {
  const VectorView& view = queries.view();
  if (view.dimension != searcher.dimension()) {
    throw_invalid("queries: they have {} elements each, the vectors that are searched {}",
                  view.dimension, searcher.dimension());
  }
  if (!searcher.takes(view.type)) {
    throw_invalid("queries: they are {}, and what is searched was built from {}: convert them",
                  numpy_name(view.type), numpy_name(searcher.type()));
  }
  queries.require_sound(searcher.metric());
}

nb::object to_attributes(const Answer& answer, bool as_one) {
  if (answer.schema.empty()) return nb::none();
  const layout::TupleView all = answer.attributes.view();
  if (as_one) return to_columns(answer.schema, all);
  nb::list each;
  for (std::size_t q = 0; q < answer.neighbors.queries; ++q) {
    each.append(to_columns(answer.schema, all.part(q * answer.neighbors.k, answer.neighbors.k)));
  }
  return each;
}

Result to_result(Answer answer, bool as_one) {
  dataset::GroundTruth& found = answer.neighbors;
  Result result;
  result.attributes = to_attributes(answer, as_one);
  result.ids = answer.has_user_ids
                   ? to_numpy(std::move(answer.user_ids), found.queries, found.k, as_one)
                   : to_numpy(std::move(found.ids), found.queries, found.k, as_one);
  result.distances = to_numpy(std::move(found.distances), found.queries, found.k, as_one);
  result.counts = answer.totals;
  result.coverage = answer.coverage;
  return result;
}

}  // namespace

double checked_deadline(double seconds) {
  if (!(seconds > 0) || seconds > kLongestSeconds) {
    throw_invalid("deadline: {} seconds are out of range: use more than 0, up to {}", seconds,
                  kLongestSeconds);
  }
  return seconds;
}

Result run_search(Searcher& searcher, const AnyArray& array, const SearchArguments& arguments) {
  Call call{.asked = asked_search(arguments, searcher.bounds()),
            .deadline_seconds = checked_deadline(arguments.deadline)};
  if (!searcher.takes_filters()) {
    const char* const name = !arguments.filter.empty()   ? "filter"
                             : !arguments.select.empty() ? "select"
                                                         : nullptr;
    if (name != nullptr)
      throw_invalid(
          "{}: the rows have no attributes: farvec.write_attributes() gives an index some", name);
  }
  const Rows queries(array, "queries", {.type = searcher.type(), .round_doubles = false});
  check_queries(searcher, queries);
  Answer answer;
  if (queries.view().count > kQuickQueries) {
    run_job([&](const Interruption& interrupted) {
      call.interrupted = interrupted;
      answer = searcher.search(queries.view(), call);
    });
  } else {
    const OthersMayRun others_may_run;
    answer = searcher.search(queries.view(), call);
  }
  return to_result(std::move(answer), queries.is_one());
}

}  // namespace farvec::python
