#include "layout/index/index_report.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "layout/graph/record_reader.h"

namespace farvec::layout {
namespace {

/// The smallest degree that at least `share` of all vertices do not exceed.
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
  GraphGeometry geometry = manifest.graph_geometry();
  geometry.kind = layout;
  // A slotted index uses blocks of its own size; its padded counterpart uses DiskANN's.
  if (manifest.is_slotted()) geometry.block_bytes = GraphGeometry{}.block_bytes;
  LayoutCost cost;
  cost.layout = layout;
  cost.codes_bytes = manifest.region(kCodesRegion).file_bytes();
  cost.second_copy_bytes = manifest.second_copy_bytes();
  if (layout == LayoutKind::slotted) {
    FARVEC_CHECK(manifest.is_slotted());
    cost.records_bytes = manifest.region(kRecordsRegion).file_bytes();
    cost.offsets_bytes =
        manifest.region(kPagesRegion).file_bytes() + manifest.region(kEntriesRegion).file_bytes();
    if (manifest.slotted().rerank) {
      cost.vectors_bytes = manifest.region(kVectorsRegion).file_bytes();
    }
  } else {
    // The table of a packed index counts the bytes of lists, which are known; the other tables
    // count edges.
    const bool packed = layout == LayoutKind::packed;
    FARVEC_CHECK(!packed || manifest.graph().layout == LayoutKind::packed);
    cost.records_bytes =
        region_bytes(geometry, packed ? manifest.graph().list_bytes : manifest.graph().edges);
  }
  if (needs_offset_table(layout)) {
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
    const std::uint32_t degree = table.find(static_cast<NodeId>(id)).length;
    if (degree >= report.histogram.size()) report.histogram.resize(degree + 1);
    ++report.histogram[degree];
  }
  return degree_report(std::move(report.histogram));
}

DegreeReport degree_report(const IndexDirectory& index) {
  const LoadOptions quiet{.quiet = true};
  if (index.manifest().graph().layout != LayoutKind::packed) {
    return degree_report(index.load_offset_table(quiet));
  }
  const GraphLocator locator = index.load_locator(quiet);
  const HugeBuffer region = index.load_region(kRecordsRegion, quiet);
  RecordReader records(locator, region.span());
  std::vector<std::uint64_t> histogram(locator.geometry().max_degree + 1);
  for (std::size_t v = 0; v < locator.geometry().count; ++v) {
    ++histogram[records.read(static_cast<NodeId>(v)).degree];
  }
  return degree_report(std::move(histogram));
}

DegreeReport degree_report(std::vector<std::uint64_t> histogram) {
  DegreeReport report;
  report.histogram = std::move(histogram);
  while (!report.histogram.empty() && report.histogram.back() == 0) report.histogram.pop_back();
  FARVEC_CHECK(!report.histogram.empty());
  report.most = static_cast<std::uint32_t>(report.histogram.size() - 1);
  std::uint64_t count = 0;
  std::uint64_t edges = 0;
  for (std::uint64_t d = 0; d < report.histogram.size(); ++d) {
    count += report.histogram[d];
    edges += d * report.histogram[d];
  }
  while (report.histogram[report.least] == 0) ++report.least;
  report.p50 = quantile(report, count, 0.50);
  report.p90 = quantile(report, count, 0.90);
  report.p99 = quantile(report, count, 0.99);
  report.mean = static_cast<double>(edges) / static_cast<double>(count);
  return report;
}

}  // namespace farvec::layout
