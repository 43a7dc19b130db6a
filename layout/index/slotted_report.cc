#include "layout/index/slotted_report.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/input_file.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "layout/pages/page_map.h"
#include "layout/pages/slotted_page.h"
#include "layout/pages/slotted_record.h"

namespace farvec::layout {
namespace {

constexpr std::size_t kReadBatchBytes = std::size_t{1} << 20;

/// Does one thread's share of the counting.
class PageCounter {
 public:
  /// Sets overlap[page] to the sum over the page's records.
  PageCounter(const SlottedGeometry& geometry, const PageMap& map, std::vector<double>& overlap)
      : geometry_(geometry), map_(map), overlap_(overlap), scratch_(geometry.scratch_ids()) {
    report.degree.histogram.resize(geometry.max_degree + 1);
    report.least_records = ~0u;
  }

  /// Throws Error that says what is wrong with the page.
  void add(std::uint32_t number, std::span<const std::byte> bytes) {
    const Result<SlottedPage> parsed = SlottedPage::parse(geometry_, number, bytes);
    if (!parsed.ok()) throw Error("page {}: {}", number, parsed.status().message());
    const SlottedPage& page = parsed.value();
    std::uint64_t inside = 0;
    for (std::uint32_t i = 0; i < page.count(); ++i) inside += add_record(number, page, i);
    const std::uint32_t slots = page.count() * SlottedGeometry::kSlotBytes;
    ++report.pages;
    report.records += page.count();
    report.least_records = std::min(report.least_records, page.count());
    report.most_records = std::max(report.most_records, page.count());
    report.header_bytes += SlottedGeometry::kHeaderBytes;
    report.slot_bytes += slots;
    report.free_bytes += geometry_.page_capacity() - slots - page.heap_used();
    if (page.count() > 1) overlap_[number] = static_cast<double>(inside) / (page.count() - 1);
  }

  SlottedReport report;
  std::uint64_t edges = 0;

 private:
  /// Returns how many neighbours of the record share its page.
  std::uint32_t add_record(std::uint32_t number, const SlottedPage& page, std::uint32_t i) {
    const PageSlot slot = page.slot(i);
    const auto record = decode_slotted_record(geometry_, page.record(slot), scratch_);
    if (!record.ok()) throw Error("page {}: {}", number, record.status().message());
    if (map_.page_of(slot.id) != number) {
      throw Error("page {}: the map says that vertex {} is in page {}", number, slot.id,
                  map_.page_of(slot.id));
    }
    const std::uint32_t degree = record.value().degree;
    std::uint32_t inside = 0;
    for (std::uint32_t n = 0; n < degree; ++n) {
      const NodeId neighbor = scratch_[n];
      if (neighbor >= geometry_.count) {
        throw Error("page {}: vertex {} points to {}", number, slot.id, neighbor);
      }
      inside += neighbor != slot.id && map_.page_of(neighbor) == number ? 1 : 0;
    }
    edges += degree;
    ++report.degree.histogram[degree];
    report.payload_bytes += geometry_.payload_bytes;
    report.neighbor_bytes += slot.length - geometry_.payload_bytes;
    report.colored += slot.color != 0 ? 1 : 0;
    return inside;
  }

  const SlottedGeometry geometry_;
  const PageMap& map_;
  std::vector<double>& overlap_;
  std::vector<NodeId> scratch_;
};

void merge(const PageCounter& from, PageCounter& to) {
  SlottedReport& sum = to.report;
  const SlottedReport& part = from.report;
  sum.pages += part.pages;
  sum.records += part.records;
  sum.least_records = std::min(sum.least_records, part.least_records);
  sum.most_records = std::max(sum.most_records, part.most_records);
  sum.header_bytes += part.header_bytes;
  sum.slot_bytes += part.slot_bytes;
  sum.payload_bytes += part.payload_bytes;
  sum.neighbor_bytes += part.neighbor_bytes;
  sum.free_bytes += part.free_bytes;
  sum.colored += part.colored;
  for (std::size_t d = 0; d < part.degree.histogram.size(); ++d) {
    sum.degree.histogram[d] += part.degree.histogram[d];
  }
  to.edges += from.edges;
}

/// The counts of all pages together; sets overlap[page] like PageCounter.
PageCounter count_pages(const IndexDirectory& index, const PageMap& map, const LoadOptions& options,
                        std::vector<double>& overlap) {
  const SlottedGeometry geometry = index.manifest().slotted_geometry();
  const InputFile file(index.region_path(kRecordsRegion).string());
  const unsigned threads = resolve_threads(options.threads);
  std::vector<PageCounter> counters(threads, PageCounter(geometry, map, overlap));
  Progress progress("reading pages", geometry.pages, options.quiet);
  parallel_for(
      geometry.pages, kReadBatchBytes / geometry.page_bytes, threads,
      [&](std::size_t begin, std::size_t end, unsigned worker) {
        std::vector<std::byte> bytes((end - begin) * geometry.page_bytes);
        file.read_at(geometry.page_offset(static_cast<std::uint32_t>(begin)), bytes.data(),
                     bytes.size());
        for (std::size_t page = begin; page < end; ++page) {
          counters[worker].add(
              static_cast<std::uint32_t>(page),
              std::span(bytes).subspan((page - begin) * geometry.page_bytes, geometry.page_bytes));
        }
        progress.advance(end - begin);
      });
  for (std::size_t i = 1; i < counters.size(); ++i) merge(counters[i], counters[0]);
  return std::move(counters[0]);
}

}  // namespace

SlottedReport slotted_report(const IndexDirectory& index, const LoadOptions& options) {
  const Manifest& manifest = index.manifest();
  const std::string file = index.region_path(kRecordsRegion).string();
  const PageMap map = index.load_page_map({.threads = options.threads, .quiet = true});
  try {
    // The sum is in the order of pages, so that the result does not depend on the threads.
    std::vector<double> overlap(manifest.slotted().pages);
    PageCounter total = count_pages(index, map, options, overlap);
    if (total.report.records != manifest.count || total.edges != manifest.graph().edges) {
      throw Error("the pages hold {} vertices and {} edges, the manifest says {} and {}",
                  total.report.records, total.edges, manifest.count, manifest.graph().edges);
    }
    const double sum = std::accumulate(overlap.begin(), overlap.end(), 0.0);
    total.report.overlap = sum / static_cast<double>(manifest.count);
    total.report.degree = degree_report(std::move(total.report.degree.histogram));
    return std::move(total.report);
  } catch (const Error& error) {
    throw Error("'{}' is damaged: {}; copy it again or rebuild the index", file, error.what());
  }
}

}  // namespace farvec::layout
