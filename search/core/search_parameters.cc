#include "search/core/search_parameters.h"

#include <algorithm>

namespace farvec::search {
namespace {

SearchFault fault_of_k(std::uint32_t k, const SearchBounds& bounds) {
  if (k == 0) return SearchFault::k_zero;
  if (k > bounds.vectors) return SearchFault::k_above_vectors;
  if (k > bounds.k) return SearchFault::k_above_bound;
  return SearchFault::none;
}

SearchFault fault_of(std::uint32_t k, const GraphChoice& choice, const SearchBounds& bounds) {
  if (choice.list < k) return SearchFault::list_below_k;
  if (choice.list > bounds.list) return SearchFault::list_above_bound;
  if (choice.width == 0 || choice.width > graph::kMaxWidth) return SearchFault::width_out_of_range;
  if (choice.width > bounds.width) return SearchFault::width_above_bound;
  return SearchFault::none;
}

SearchFault fault_of(std::uint32_t, const ProbeChoice& choice, const SearchBounds& bounds) {
  if (!(choice.prune_ratio >= 1)) return SearchFault::prune_ratio_below_one;
  if (choice.clusters == 0) return SearchFault::clusters_zero;
  if (choice.clusters > bounds.clusters) return SearchFault::clusters_above_bound;
  return SearchFault::none;
}

const char* message_of(SearchFault fault) {
  switch (fault) {
    case SearchFault::none:
      return "";
    case SearchFault::wrong_kind:
      return "the search is one of another kind of index";
    case SearchFault::k_zero:
      return "k must be at least 1";
    case SearchFault::k_above_vectors:
      return "k exceeds the vector count";
    case SearchFault::k_above_bound:
      return "k exceeds its maximum";
    case SearchFault::list_below_k:
      return "the list must be at least k";
    case SearchFault::list_above_bound:
      return "the list exceeds its maximum";
    case SearchFault::width_out_of_range:
      return "the width must be from 1 to 64";
    case SearchFault::width_above_bound:
      return "the width exceeds what memory was planned for";
    case SearchFault::prune_ratio_below_one:
      return "the prune ratio must be at least 1";
    case SearchFault::clusters_zero:
      return "probe must be at least 1";
    case SearchFault::clusters_above_bound:
      return "probe exceeds its maximum";
    case SearchFault::no_second_copy:
      return "the index has no second copy of its vectors";
    case SearchFault::refined_candidates:
      return "candidates are not ranked again";
    case SearchFault::refine_above_list:
      return "more candidates are to be ranked again than the search has";
  }
  return "the search is not one that is known";
}

}  // namespace

layout::IndexKind kind_of(const SearchChoice& choice) {
  return std::visit([]<typename Choice>(const Choice&) { return Choice::kKind; }, choice);
}

std::uint32_t size_of(const SearchChoice& choice) {
  return std::visit([](const auto& own) { return own.size(); }, choice);
}

SearchFault find_fault(std::uint32_t k, const SearchChoice& choice, const SearchBounds& bounds) {
  if (kind_of(choice) != bounds.kind) return SearchFault::wrong_kind;
  if (const SearchFault fault = fault_of_k(k, bounds); fault != SearchFault::none) return fault;
  return std::visit([&](const auto& own) { return fault_of(k, own, bounds); }, choice);
}

SearchFault find_fault(const RefineChoice& asked, const SearchParameters& search,
                       const SearchBounds& bounds) {
  if (asked.refine == 0 && !asked.candidates) return SearchFault::none;
  if (!bounds.refines) return SearchFault::no_second_copy;
  if (asked.refine > 0 && asked.candidates) return SearchFault::refined_candidates;
  if (asked.refine > search.candidates() / search.k()) return SearchFault::refine_above_list;
  return SearchFault::none;
}

Status to_status(SearchFault fault) {
  if (fault == SearchFault::none) return {};
  return {StatusCode::invalid_argument, message_of(fault)};
}

Result<SearchParameters> SearchParameters::make(std::uint32_t k, const SearchChoice& choice) {
  return make(k, choice, {.kind = kind_of(choice)});
}

Result<SearchParameters> SearchParameters::make(std::uint32_t k, const SearchChoice& choice,
                                                const SearchBounds& bounds) {
  const SearchFault fault = find_fault(k, choice, bounds);
  if (fault != SearchFault::none) return to_status(fault);
  return SearchParameters(k, choice);
}

std::uint32_t SearchParameters::candidates() const {
  const std::uint32_t list = std::visit([](const auto& own) { return own.list; }, choice_);
  return std::max(list, k_);
}

}  // namespace farvec::search
