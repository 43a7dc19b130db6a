#include "cli/search/search_limits.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "graph/beam_search.h"
#include "rpc/compute_node.pb.h"

namespace farvec::cli {
namespace {

struct Range {
  std::uint64_t least;
  std::uint64_t most;
};

void check_range(std::string_view option, std::uint64_t value, Range range, std::string_view why) {
  if (value >= range.least && value <= range.most) return;
  throw Error("{}: {} is out of range: use {} to {}{}", option, value, range.least, range.most,
              why);
}

void check_graph(const BatchParameters& parameters, const SearchLimits& limits) {
  if (parameters.list < parameters.k) {
    throw Error("--list: {} is out of range: the list must be at least k, which is {}",
                parameters.list, parameters.k);
  }
  check_range("--list", parameters.list, {1, limits.max_list}, ", the most that the node allows");
  check_range("--width", parameters.width, {1, graph::kMaxWidth}, "");
}

}  // namespace

SearchLimits limits_of(const layout::Manifest& manifest) {
  return {.vectors = manifest.count,
          .clusters = manifest.is_cluster() ? manifest.cluster().geometry.clusters : 0};
}

SearchLimits limits_of(const compute_node::v1::DescribeResponse& node) {
  return {.vectors = node.count(),
          .clusters = node.clusters(),
          .max_k = node.max_k(),
          .max_list = node.max_list(),
          .max_probe = node.max_probe()};
}

void check_limits(const BatchParameters& parameters, const SearchLimits& limits) {
  const bool few = limits.vectors <= limits.max_k;
  check_range("--k", parameters.k, {1, std::min<std::uint64_t>(limits.vectors, limits.max_k)},
              few ? ", the vectors in the index" : ", the most that the node allows");
  if (limits.clusters == 0) {
    check_graph(parameters, limits);
  } else {
    check_range("--probe", parameters.probing.clusters, {1, limits.max_probe}, "");
  }
}

}  // namespace farvec::cli
