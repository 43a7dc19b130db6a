#include "cli/search/search_limits.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "rpc/compute_node.pb.h"

namespace farvec::cli {
namespace {

using search::SearchBounds;
using search::SearchFault;

[[noreturn]] void throw_range(std::string_view option, std::uint64_t value, std::uint64_t most,
                              std::string_view why) {
  throw Error("{}: {} is out of range: use 1 to {}{}", option, value, most, why);
}

[[noreturn]] void throw_k(std::uint32_t k, const SearchBounds& limits) {
  const bool few = limits.vectors <= limits.k;
  throw_range("--k", k, std::min<std::uint64_t>(limits.vectors, limits.k),
              few ? ", the vectors in the index" : ", the most that the node allows");
}

/// In the names of the options.
[[noreturn]] void throw_fault(SearchFault fault, const AskedSearch& asked,
                              const SearchBounds& limits) {
  switch (fault) {
    case SearchFault::list_below_k:
      throw Error("--list: {} is out of range: the list must be at least k, which is {}",
                  asked.list, asked.k);
    case SearchFault::list_above_bound:
      throw_range("--list", asked.list, limits.list, ", the most that the node allows");
    case SearchFault::width_out_of_range:
    case SearchFault::width_above_bound:
      throw_range("--width", asked.width, limits.width, "");
    case SearchFault::prune_ratio_below_one:
      throw Error("--prune-ratio: {} is out of range: use 1 or more", asked.probing.prune_ratio);
    case SearchFault::clusters_zero:
    case SearchFault::clusters_above_bound:
      throw_range("--probe", asked.probing.clusters, limits.clusters, "");
    default:
      throw_k(asked.k, limits);
  }
}

}  // namespace

SearchBounds limits_of(const layout::Manifest& manifest) {
  return {.kind = manifest.kind(), .vectors = manifest.count};
}

SearchBounds limits_of(const compute_node::v1::DescribeResponse& node) {
  return {.kind = node.clusters() > 0 ? layout::IndexKind::cluster : layout::IndexKind::graph,
          .vectors = node.count(),
          .k = node.max_k(),
          .list = node.max_list(),
          .clusters = node.max_probe()};
}

search::SearchParameters check_limits(const AskedSearch& asked, const SearchBounds& limits) {
  const search::SearchChoice choice = asked.choice(limits.kind);
  const SearchFault fault = search::find_fault(asked.k, choice, limits);
  if (fault != SearchFault::none) throw_fault(fault, asked, limits);
  return search::SearchParameters::make(asked.k, choice).value();
}

}  // namespace farvec::cli
