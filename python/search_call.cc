#include "python/search_call.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "python/errors.h"
#include "python/jobs.h"

namespace farvec::python {
namespace {

namespace nb = nanobind;

/// More than so many queries may take long enough for somebody to end them.
constexpr std::size_t kQuickQueries = 256;
constexpr std::uint32_t kUsualList = 64;
constexpr double kLongestSeconds = 86'400;

search::AskedSearch asked_search(const SearchArguments& arguments) {
  search::AskedSearch asked;
  asked.k = to_count(arguments.k, "k");
  asked.list = arguments.list ? to_count(*arguments.list, "list") : std::max(kUsualList, asked.k);
  asked.width = to_count(arguments.width, "width");
  asked.probing.clusters = to_count(arguments.probe, "probe");
  if (arguments.prune_ratio) asked.probing.prune_ratio = *arguments.prune_ratio;
  asked.partial = arguments.partial;
  return asked;
}

void check_queries(const Searcher& searcher, const Rows& queries) {
  const VectorView& view = queries.view();
  if (view.dimension != searcher.dimension()) {
    throw_invalid("queries: they have {} elements each, the vectors that are searched {}",
                  view.dimension, searcher.dimension());
  }
  if (view.type != searcher.type()) {
    throw_invalid("queries: they are {}, and what is searched was built from {}: convert them",
                  numpy_name(view.type), numpy_name(searcher.type()));
  }
  queries.require_finite();
}

Result to_result(Answer answer, bool as_one) {
  dataset::GroundTruth& found = answer.neighbors;
  Result result;
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

Result run_search(Searcher& searcher, AnyArray array, const SearchArguments& arguments) {
  Call call{.asked = asked_search(arguments),
            .deadline_seconds = checked_deadline(arguments.deadline)};
  const Rows queries(std::move(array), "queries");
  check_queries(searcher, queries);
  Answer answer;
  if (queries.view().count > kQuickQueries) {
    run_job([&](const Interruption& interrupted) {
      call.interrupted = interrupted;
      answer = searcher.search(queries.view(), call);
    });
  } else {
    const nb::gil_scoped_release others_may_run;
    answer = searcher.search(queries.view(), call);
  }
  return to_result(std::move(answer), queries.is_one());
}

}  // namespace farvec::python
