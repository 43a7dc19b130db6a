#include "search/core/asked_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/status_error.h"

namespace farvec::search {
namespace {

[[noreturn]] void refuse(std::string_view name, const std::string& why) {
  throw StatusError(StatusCode::invalid_argument, "{}: {}", name, why);
}

[[noreturn]] void throw_range(std::string_view name, std::uint64_t value, std::uint64_t most,
                              std::string_view why) {
  refuse(name, fmt::format("{} is out of range: use 1 to {}{}", value, most, why));
}

[[noreturn]] void throw_k(const SearchNames& names, std::uint32_t k, const SearchBounds& limits) {
  const bool few = limits.vectors <= limits.k;
  throw_range(names.k, k, std::min<std::uint64_t>(limits.vectors, limits.k),
              few ? ", the vectors in the index" : names.bound);
}

[[noreturn]] void throw_fault(SearchFault fault, const AskedSearch& asked,
                              const SearchBounds& limits, const SearchNames& names) {
  switch (fault) {
    case SearchFault::list_below_k:
      refuse(names.list, fmt::format("{} is out of range: the list must be at least k, which is {}",
                                     asked.list, asked.k));
    case SearchFault::list_above_bound:
      throw_range(names.list, asked.list, limits.list, names.bound);
    case SearchFault::width_out_of_range:
    case SearchFault::width_above_bound:
      throw_range(names.width, asked.width, limits.width, "");
    case SearchFault::prune_ratio_below_one:
      refuse(names.prune_ratio,
             fmt::format("{} is out of range: use 1 or more", asked.probing.prune_ratio));
    case SearchFault::clusters_zero:
    case SearchFault::clusters_above_bound:
      throw_range(names.probe, asked.probing.clusters, limits.clusters, "");
    case SearchFault::no_second_copy:
      refuse(asked.candidates ? names.candidates : names.refine,
             "the index has no second copy of its vectors, by which candidates could be ranked "
             "again");
    case SearchFault::refined_candidates:
      refuse(names.refine,
             fmt::format("{} ranks nothing again: leave one of both out", names.candidates));
    case SearchFault::refine_above_list:
      refuse(names.refine,
             fmt::format("{} times {} results are more than the candidates of a "
                         "search, which are {}: use a longer {}",
                         asked.refine, asked.k, std::max(asked.list, asked.k), names.list));
    default:
      throw_k(names, asked.k, limits);
  }
}

}  // namespace

FilterPlan parse_filter_plan(std::string_view text, std::string_view name) {
  if (text == "chosen") return FilterPlan::chosen;
  if (text == "walk") return FilterPlan::walk;
  if (text == "scan") return FilterPlan::scan;
  refuse(name, fmt::format("'{}' is no way to search: use chosen, walk or scan", text));
}

std::uint32_t usual_k(bool is_within, const SearchBounds& limits) {
  const std::uint32_t usual = is_within ? kUsualWithin : kUsualNearest;
  const std::uint64_t k = std::min<std::uint64_t>({usual, limits.vectors, limits.k, limits.list});
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(k, 1));
}

SearchBounds limits_of(const layout::Manifest& manifest) {
  return {.kind = manifest.kind(),
          .vectors = manifest.count,
          .refines = manifest.second_copy.has_value()};
}

SearchParameters check_limits(const AskedSearch& asked, const SearchBounds& limits,
                              const SearchNames& names) {
  const SearchChoice choice = asked.choice(limits.kind);
  SearchFault fault = find_fault(asked.k, choice, limits);
  if (fault != SearchFault::none) throw_fault(fault, asked, limits, names);
  const SearchParameters search = SearchParameters::make(asked.k, choice).value();
  fault = find_fault({asked.refine, asked.candidates}, search, limits);
  if (fault != SearchFault::none) throw_fault(fault, asked, limits, names);
  return search;
}

}  // namespace farvec::search
