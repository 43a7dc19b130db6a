#include "layout/index/cluster_report.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/memory.h"

namespace farvec::layout {
namespace {

SizeReport size_report(std::vector<std::uint32_t> sizes) {
  std::sort(sizes.begin(), sizes.end());
  const auto at = [&](double share) {
    return sizes[static_cast<std::size_t>(share * static_cast<double>(sizes.size() - 1))];
  };
  const auto sum = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
  return {sizes.front(), at(0.5),
          at(0.9),       at(0.99),
          sizes.back(),  static_cast<double>(sum) / static_cast<double>(sizes.size())};
}

/// Takes one number from every cluster.
template <typename Of>
std::vector<std::uint32_t> of_clusters(const ClusterLocator& locator, const Of& of) {
  std::vector<std::uint32_t> sizes(locator.geometry().clusters);
  for (ClusterId c = 0; c < sizes.size(); ++c) sizes[c] = of(locator.entry(c));
  return sizes;
}

std::uint64_t coupled_bytes(const ClusterLocator& locator) {
  const ClusterGeometry& geometry = locator.geometry();
  std::uint64_t bytes = kRegionHeaderBytes;
  for (ClusterId c = 0; c < geometry.clusters; ++c) {
    bytes += round_up(std::uint64_t{locator.entry(c).members()} * geometry.record_bytes(),
                      geometry.block_bytes);
  }
  return bytes;
}

}  // namespace

ClusterReport cluster_report(const Manifest& manifest, const ClusterLocator& locator) {
  ClusterReport report;
  const auto data = static_cast<double>(manifest.dataset_bytes());
  const auto count = static_cast<double>(manifest.count);
  const auto members = static_cast<double>(manifest.cluster().geometry.members);
  const std::uint64_t kept = manifest.region(kCentroidsRegion).file_bytes() +
                             manifest.region(kClustersRegion).file_bytes();
  const std::uint64_t records = manifest.region(kRecordsRegion).file_bytes();
  report.amplification = static_cast<double>(records) / data;
  report.coupled_amplification = static_cast<double>(coupled_bytes(locator)) / data;
  report.total_amplification =
      static_cast<double>(records + kept + manifest.second_copy_bytes()) / data;
  report.compute_dram_bytes_per_vector = static_cast<double>(kept) / count;
  report.clusters_per_vector = members / count;
  const auto all = of_clusters(locator, [](const ClusterEntry& e) { return e.members(); });
  const auto strays = of_clusters(locator, [](const ClusterEntry& e) { return e.list_addresses; });
  report.stray_share =
      static_cast<double>(std::accumulate(strays.begin(), strays.end(), std::uint64_t{0})) /
      members;
  report.empty_clusters = static_cast<std::uint32_t>(std::count(all.begin(), all.end(), 0u));
  report.members = size_report(all);
  report.groups =
      size_report(of_clusters(locator, [](const ClusterEntry& e) { return e.group_records; }));
  report.strays = size_report(strays);
  return report;
}

}  // namespace farvec::layout
