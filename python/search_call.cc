#include "python/search_call.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
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
constexpr std::uint32_t kUsualList = 64;
constexpr std::uint32_t kUsualProbe = 16;
constexpr std::uint32_t kMostRefine = 1u << 20;
constexpr double kLongestSeconds = 86'400;

search::AskedSearch asked_search(const SearchArguments& given, const search::SearchBounds& most) {
  search::AskedSearch asked;
  asked.k = given.k ? to_count(*given.k, "k") : search::usual_k(given.within.has_value(), most);
  asked.list = given.list ? to_count(*given.list, "list")
                          : std::max(std::min(kUsualList, most.list), asked.k);
  asked.width = to_count(given.width, "width");
  asked.probing.clusters = given.probe ? to_count(*given.probe, "probe")
                                       : std::min(kUsualProbe, std::max(most.clusters, 1u));
  if (given.prune_ratio) asked.probing.prune_ratio = *given.prune_ratio;
  asked.partial = given.partial;
  asked.exact = given.exact;
  if (given.within) {
    if (std::isnan(*given.within)) throw_invalid("within: it is NaN, which is no distance");
    asked.within = *given.within;
  }
  asked.filter = given.filter;
  asked.plan = search::parse_filter_plan(given.plan, "plan");
  asked.select = given.select;
  if (given.refine) asked.refine = within(*given.refine, "refine", 1, kMostRefine);
  asked.candidates = given.candidates;
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
                  type_words(view.type), type_words(searcher.type()));
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

/// Moves the neighbours of each query that `keeps(query, place)` to the front, and leaves `k` of
/// them: missing ones where there are fewer.
template <typename Keeps>
void select_neighbors(Answer& answer, std::uint32_t k, const Keeps& keeps) {
  const dataset::GroundTruth& all = answer.neighbors;
  Answer kept;
  for (std::size_t q = 0; q < all.queries; ++q) {
    std::uint32_t count = 0;
    for (std::size_t i = q * all.k; i < (q + 1) * all.k && count < k; ++i) {
      if (!keeps(q, i)) continue;
      ++count;
      kept.neighbors.distances.push_back(all.distances[i]);
      if (answer.has_user_ids) kept.user_ids.push_back(answer.user_ids[i]);
      if (!answer.has_user_ids) kept.neighbors.ids.push_back(all.ids[i]);
      if (!answer.schema.empty()) kept.attributes.append(answer.attributes.view().row(i));
    }
    for (; count < k; ++count) {
      kept.neighbors.distances.push_back(std::numeric_limits<float>::infinity());
      if (answer.has_user_ids) kept.user_ids.push_back(search::kNoUserId);
      if (!answer.has_user_ids) kept.neighbors.ids.push_back(kInvalidNode);
      if (!answer.schema.empty()) kept.attributes.append(layout::null_tuple());
    }
  }
  answer.user_ids = std::move(kept.user_ids);
  answer.attributes = std::move(kept.attributes);
  answer.neighbors.ids = std::move(kept.neighbors.ids);
  answer.neighbors.distances = std::move(kept.neighbors.distances);
  answer.neighbors.k = k;
}

/// Leaves as many neighbours as the query with the most of them has.
void drop_missing(Answer& answer) {
  const dataset::GroundTruth& all = answer.neighbors;
  std::uint32_t most = 0;
  for (std::size_t q = 0; q < all.queries; ++q) {
    const auto row = all.distances.begin() + static_cast<std::ptrdiff_t>(q * all.k);
    const auto found = std::count_if(row, row + all.k, [](float d) { return std::isfinite(d); });
    most = std::max(most, static_cast<std::uint32_t>(found));
  }
  select_neighbors(answer, most, [](std::size_t, std::size_t) { return true; });
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

Wish wish_of(const Searcher& searcher) {
  Wish wish{.type = searcher.type(), .bit_order = searcher.bit_order()};
  if (wish.type == ElementType::b1) wish.dimension = searcher.dimension();
  return wish;
}

double checked_deadline(double seconds) {
  if (!(seconds > 0) || seconds > kLongestSeconds) {
    throw_invalid("deadline: {} seconds are out of range: use more than 0, up to {}", seconds,
                  kLongestSeconds);
  }
  return seconds;
}

namespace {

void refuse_filters(const Searcher& searcher, const SearchArguments& arguments) {
  const char* const name = !arguments.filter.empty()   ? "filter"
                           : !arguments.select.empty() ? "select"
                                                       : nullptr;
  if (name == nullptr || searcher.takes_filters()) return;
  throw_invalid("{}: the rows have no attributes: farvec.write_attributes() gives an index some",
                name);
}

/// Numbers the users' ids of several answers, so that these can be compared like rows.
class RowNumbers {
 public:
  void give(Answer& answer) {
    if (!answer.has_user_ids) return;
    answer.neighbors.ids.clear();
    for (const std::uint64_t id : answer.user_ids) {
      const auto next = static_cast<NodeId>(numbers_.size());
      answer.neighbors.ids.push_back(
          id == search::kNoUserId ? kInvalidNode : numbers_.try_emplace(id, next).first->second);
    }
  }

 private:
  std::unordered_map<std::uint64_t, NodeId> numbers_;
};

/// Gives up the interpreter and searches.
Answer search_freely(Searcher& searcher, const VectorView& queries, Call& call) {
  if (queries.count <= kQuickQueries) {
    const OthersMayRun others_may_run;
    return searcher.search(queries, call);
  }
  Answer answer;
  run_job([&](const Interruption& interrupted) {
    call.interrupted = interrupted;
    answer = searcher.search(queries, call);
  });
  return answer;
}

}  // namespace

Result run_search(Searcher& searcher, const AnyArray& array, const SearchArguments& arguments) {
  Call call{.asked = asked_search(arguments, searcher.bounds()),
            .deadline_seconds = checked_deadline(arguments.deadline)};
  refuse_filters(searcher, arguments);
  const Rows queries(array, "queries", wish_of(searcher));
  check_queries(searcher, queries);
  Answer answer = search_freely(searcher, queries.view(), call);
  if (arguments.within) drop_missing(answer);
  return to_result(std::move(answer), queries.is_one());
}

std::map<std::string, std::uint32_t> choose_search(Searcher& searcher, const AnyArray& array,
                                                   const SearchArguments& arguments,
                                                   double recall) {
  if (!(recall > 0) || recall > 1) {
    throw_invalid("recall: {} is out of range: use more than 0, up to 1", recall);
  }
  Call call{.asked = asked_search(arguments, searcher.bounds()),
            .deadline_seconds = checked_deadline(arguments.deadline)};
  refuse_filters(searcher, arguments);
  const Rows queries(array, "queries", wish_of(searcher));
  check_queries(searcher, queries);
  RowNumbers numbers;
  measure::ChosenSearch chosen;
  const measure::SearchReach reach = searcher.reach();
  run_job([&](const Interruption& interrupted) {
    call.interrupted = interrupted;
    const auto search = [&](const search::AskedSearch& asked) {
      call.asked = asked;
      Answer answer = searcher.search(queries.view(), call);
      numbers.give(answer);
      return measure::SampleAnswers{std::move(answer.neighbors), searcher.has_exact_distances()};
    };
    chosen = measure::choose_for_recall(call.asked, reach, recall, search);
  });
  const bool graph = reach.bounds.kind == layout::IndexKind::graph;
  std::map<std::string, std::uint32_t> result;
  if (!graph) result["probe"] = chosen.asked.probing.clusters;
  if (graph || reach.clusters_have_lists) result["list"] = chosen.asked.list;
  return result;
}

Result run_search_near(Searcher& searcher, const VectorView& vectors,
                       std::span<const std::uint64_t> ids, bool as_one,
                       const SearchArguments& arguments) {
  const search::SearchBounds most = searcher.bounds();
  Call call{.asked = asked_search(arguments, most),
            .deadline_seconds = checked_deadline(arguments.deadline)};
  refuse_filters(searcher, arguments);
  // One more is looked for: the row itself.
  const std::uint32_t room = std::min(most.k, most.list) - 1;
  if (room == 0) throw_invalid("max_list: {} has no room for a row and one near it", most.list);
  if (!arguments.k) call.asked.k = std::min(call.asked.k, room);
  const std::uint32_t k = call.asked.k;
  if (k == 0 || k > room) {
    throw_invalid("k: {} is out of range: use 1 to {}, one less than other searches may", k, room);
  }
  ++call.asked.k;
  call.asked.list = std::max(call.asked.list, call.asked.k);
  Answer answer = search_freely(searcher, vectors, call);
  FARVEC_CHECK(answer.has_user_ids, "ids that are no users'");
  select_neighbors(answer, k, [&](std::size_t query, std::size_t place) {
    return answer.user_ids[place] != ids[query];
  });
  if (arguments.within) drop_missing(answer);
  return to_result(std::move(answer), as_one);
}

}  // namespace farvec::python
