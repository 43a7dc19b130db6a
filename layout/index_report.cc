#include "layout/index_report.h"

#include <algorithm>

#include "base/check.h"

namespace farvec::layout {
namespace {

/// Smallest degree that at least `share` of all vertices do not exceed.
std::uint32_t quantile(const DegreeReport& report, std::uint64_t count, double share) {
  const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(count));
  std::uint64_t seen = 0;
  for (std::uint32_t degree = 0; degree < report.histogram.size(); ++degree) {
    seen += report.histogram[degree];
    if (seen >= std::max<std::uint64_t>(wanted, 1)) return degree;
  }
  return report.most;
}

}  // namespace

LayoutCost layout_cost(const Manifest& manifest, LayoutKind layout) {
  GraphGeometry geometry = manifest.geometry();
  geometry.kind = layout;
  LayoutCost cost;
  cost.layout = layout;
  cost.records_bytes = region_bytes(geometry, manifest.edges);
  cost.codes_bytes = manifest.region(kCodesRegion).file_bytes();
  if (layout == LayoutKind::csr) {
    cost.offsets_bytes = kRegionHeaderBytes + OffsetTable::table_bytes(manifest.count);
  }
  const auto data = static_cast<double>(manifest.dataset_bytes());
  cost.amplification = static_cast<double>(cost.records_bytes) / data;
  cost.total_amplification = static_cast<double>(cost.total_bytes()) / data;
  cost.compute_dram_bytes_per_vector = static_cast<double>(cost.codes_bytes + cost.offsets_bytes) /
                                       static_cast<double>(manifest.count);
  return cost;
}

DegreeReport degree_report(const OffsetTable& table) {
  FARVEC_CHECK(table.count() > 0);
  DegreeReport report;
  for (std::size_t id = 0; id < table.count(); ++id) {
    const std::uint32_t degree = table.find(static_cast<NodeId>(id)).degree;
    if (degree >= report.histogram.size()) report.histogram.resize(degree + 1);
    ++report.histogram[degree];
  }
  report.most = static_cast<std::uint32_t>(report.histogram.size() - 1);
  while (report.histogram[report.least] == 0) ++report.least;
  report.p50 = quantile(report, table.count(), 0.50);
  report.p90 = quantile(report, table.count(), 0.90);
  report.p99 = quantile(report, table.count(), 0.99);
  report.mean = static_cast<double>(table.total_edges()) / static_cast<double>(table.count());
  return report;
}

}  // namespace farvec::layout
