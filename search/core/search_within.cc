#include "search/core/search_within.h"

#include <algorithm>

#include "base/clock.h"

namespace farvec::search {
namespace {

/// What the first walk of a graph looks for, and the least that its list has: what a search for a
/// few neighbours usually has.
constexpr std::uint32_t kFirstResults = 32;
constexpr std::uint32_t kFirstList = 64;

constexpr Status kLate{StatusCode::deadline_exceeded,
                       "the deadline passed while the search looked for more rows that are near"};

/// Says whether a search for fewer results costs less.
bool grows(const SearchRequest& request) {
  return !request.exact && std::holds_alternative<GraphChoice>(request.parameters.choice());
}

/// Returns the search for `k` of the results, with its share of the list.
SearchParameters part_of(const SearchParameters& whole, std::uint32_t k) {
  GraphChoice choice = whole.graph();
  const std::uint64_t share = (std::uint64_t{choice.list} * k + whole.k() - 1) / whole.k();
  choice.list = std::max({k, static_cast<std::uint32_t>(share), std::min(choice.list, kFirstList)});
  return SearchParameters::make(k, choice).value();
}

}  // namespace

void keep_within(const SearchRequest& request, SearchAnswer& answer) {
  const float* const begin = answer.distances;
  const float* const end = begin + answer.found;
  answer.found = static_cast<std::uint32_t>(std::upper_bound(begin, end, request.within) - begin);
}

Status search_within(CorePart& part, std::uint32_t slot, const SearchRequest& request,
                     SearchAnswer& answer) {
  const std::uint32_t most = request.parameters.k();
  SearchRequest step = request;
  std::uint32_t k = grows(request) ? std::min(most, kFirstResults) : most;
  QueryCounts before;
  while (true) {
    if (k < most) step.parameters = part_of(request.parameters, k);
    Status status = part.search(slot, step, answer);
    const QueryCounts last = answer.counts;
    answer.counts += before;
    // These describe the rows and the results, and are no work that is done again.
    answer.counts.matches = last.matches;
    answer.counts.attribute_reads = last.attribute_reads;
    if (!status.ok()) return status;
    keep_within(request, answer);
    if (answer.found < k || k == most) return status;
    if (now_ticks() > request.deadline) {
      answer.found = 0;
      return kLate;
    }
    before = answer.counts;
    k = k > most / 2 ? most : 2 * k;
    step.parameters = request.parameters;
  }
}

}  // namespace farvec::search
