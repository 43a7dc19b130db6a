#include <fmt/format.h>

#include <utility>

#include "cli/index/inspection.h"
#include "layout/index/slotted_report.h"

namespace farvec::cli {
namespace {

using layout::Manifest;

double share(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

nlohmann::ordered_json slotted_to_json(const Manifest& manifest,
                                       const layout::SlottedReport& report) {
  const layout::SlottedDescription& slotted = manifest.slotted();
  return {
      {"pages", report.pages},
      {"page_utilisation", report.utilisation()},
      {"fragmentation", report.fragmentation()},
      {"records_per_page", report.records_per_page()},
      {"records_per_page_min", report.least_records},
      {"records_per_page_max", report.most_records},
      {"header_bytes", report.header_bytes},
      {"slot_bytes", report.slot_bytes},
      {"payload_bytes", report.payload_bytes},
      {"neighbor_bytes", report.neighbor_bytes},
      {"free_bytes", report.free_bytes},
      {"colored_records", report.colored},
      {"overlap", report.overlap},
      {"affine_pairs_together_share", share(slotted.affine_pairs_together, slotted.affine_pairs)}};
}

void print_bytes(const char* name, std::uint64_t bytes, const layout::SlottedReport& report) {
  fmt::print("{:<16} {:>18} {:>7.2f}% {:>10.1f}\n", name, grouped(bytes),
             100 * share(bytes, report.bytes()),
             static_cast<double>(bytes) / static_cast<double>(report.records));
}

void print_slotted(const Manifest& manifest, const layout::SlottedReport& report) {
  const layout::SlottedDescription& slotted = manifest.slotted();
  fmt::print(
      "\n{} pages of {} bytes, placement {}: {:.2f}% used, {:.2f}% fragmentation,\n"
      "{:.2f} records per page ({} to {})\n",
      grouped(report.pages), manifest.graph().block_bytes, slotted.placement,
      100 * report.utilisation(), 100 * report.fragmentation(), report.records_per_page(),
      report.least_records, report.most_records);
  fmt::print(
      "{:.2f}% of {} affine pairs share a page, {:.2f}% of records are colored; overlap of pages "
      "and neighbours OR(G) {:.4f}\n",
      100 * share(slotted.affine_pairs_together, slotted.affine_pairs),
      grouped(slotted.affine_pairs), 100 * share(report.colored, report.records), report.overlap);
  fmt::print("\n{:<16} {:>18} {:>8} {:>10}\n", "of all pages", "bytes", "share", "B/vector");
  print_bytes("headers", report.header_bytes, report);
  print_bytes("slots", report.slot_bytes, report);
  print_bytes(slotted.payload == layout::PayloadKind::code ? "extensions" : "vectors",
              report.payload_bytes, report);
  print_bytes("neighbours", report.neighbor_bytes, report);
  print_bytes("free", report.free_bytes, report);
}

class PageInspection final : public GraphInspection {
 public:
  PageInspection(const layout::IndexDirectory& index, layout::SlottedReport report)
      : GraphInspection(index, report.degree), report_(std::move(report)) {}

 protected:
  void print_pages() const override { print_slotted(manifest(), report_); }
  void add_pages(nlohmann::ordered_json& json) const override {
    json["slotted"] = slotted_to_json(manifest(), report_);
  }

 private:
  layout::SlottedReport report_;
};

}  // namespace

std::unique_ptr<Inspection> inspect_pages(const layout::IndexDirectory& index, unsigned threads) {
  return std::make_unique<PageInspection>(index,
                                          layout::slotted_report(index, {.threads = threads}));
}

}  // namespace farvec::cli
