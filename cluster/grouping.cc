#include "cluster/grouping.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"

namespace farvec::cluster {
namespace {

constexpr std::size_t kHomesChunk = 65536;

ClusterId most_frequent(std::span<const ClusterId> clusters,
                        std::span<const std::uint64_t> frequency) {
  return *std::max_element(clusters.begin(), clusters.end(), [&](ClusterId a, ClusterId b) {
    return frequency[a] < frequency[b];  // the first of equals stays
  });
}

}  // namespace

std::vector<ClusterId> group_by_frequency(MembershipView membership,
                                          std::span<const std::uint64_t> frequency,
                                          unsigned threads) {
  std::vector<ClusterId> homes(membership.count());
  parallel_for(homes.size(), kHomesChunk, resolve_threads(threads),
               [&](std::size_t begin, std::size_t end, unsigned) {
                 for (std::size_t v = begin; v < end; ++v) {
                   const auto clusters = membership.of(v);
                   const ClusterId largest = *std::max_element(clusters.begin(), clusters.end());
                   if (!frequency.empty() && largest >= frequency.size()) {
                     throw Error("vector {} is in cluster {}, but there are frequencies of {} only",
                                 v, largest, frequency.size());
                   }
                   homes[v] =
                       frequency.empty() ? clusters.front() : most_frequent(clusters, frequency);
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
