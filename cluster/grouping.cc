#include "cluster/grouping.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"

namespace farvec::cluster {
namespace {

constexpr std::size_t kHomesChunk = 65536;

std::vector<std::uint64_t> count_members(MembershipView membership) {
  std::vector<std::uint64_t> members;
  for (const ClusterId cluster : membership.clusters) {
    if (cluster >= members.size()) members.resize(cluster + std::size_t{1});
    ++members[cluster];
  }
  return members;
}

void check_frequencies(MembershipView membership, std::size_t frequencies) {
  for (std::size_t v = 0; v < membership.count(); ++v) {
    for (const ClusterId cluster : membership.of(v)) {
      if (cluster < frequencies) continue;
      throw Error("vector {} is in cluster {}, but there are frequencies of {} only", v, cluster,
                  frequencies);
    }
  }
}

}  // namespace

std::vector<ClusterId> group_by_frequency(MembershipView membership,
                                          std::span<const std::uint64_t> frequency,
                                          unsigned threads) {
  if (!frequency.empty()) check_frequencies(membership, frequency.size());
  const std::vector<std::uint64_t> members = count_members(membership);
  const auto worth = [&](ClusterId c) {
    return std::tuple(frequency.empty() ? 0 : frequency[c], members[c], ~c);
  };
  std::vector<ClusterId> homes(membership.count());
  parallel_for(homes.size(), kHomesChunk, resolve_threads(threads),
               [&](std::size_t begin, std::size_t end, unsigned) {
                 for (std::size_t v = begin; v < end; ++v) {
                   homes[v] = std::ranges::max(membership.of(v), {}, worth);
                 }
               });
  return homes;
}

std::uint64_t count_requests(MembershipView membership, std::span<const std::uint64_t> frequency,
                             std::span<const ClusterId> homes) {
  std::uint64_t requests = 0;
  for (const std::uint64_t accesses : frequency) requests += accesses;
  for (std::size_t v = 0; v < membership.count(); ++v) {
    for (const ClusterId cluster : membership.of(v)) {
      if (cluster != homes[v]) requests += frequency[cluster];
    }
  }
  return requests;
}

}  // namespace farvec::cluster
