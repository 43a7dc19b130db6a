// How a sweep's findings are shown: a table for people, JSON lines for programs.
#pragma once

#include <string>

#include "cli/sweep_plan.h"
#include "layout/manifest.h"

namespace farvec::cli {

/// What all rows of a sweep share.
struct ReportContext {
  const layout::Manifest& manifest;
  std::string index;
  RowRange queries;
  std::uint32_t k = 10;
  std::string host;  ///< name, processor, instruction set
};
ReportContext make_context(const layout::Manifest& manifest, const std::string& index,
                           RowRange queries, std::uint32_t k);

struct TierName {
  std::string name;
  std::string model;
};

void print_sweep_header(layout::IndexKind kind);
void print_sweep_row(layout::IndexKind kind, const SweepPoint& point, const std::string& tier,
                     const SweepSamples& samples);

/// The same for --tier ssd.
void print_slotted_header();
void print_slotted_row(const SweepPoint& point, const SweepSamples& samples);

/// One JSON object without line breaks. `index_dram_bytes` is what the index itself keeps in
/// compute DRAM; the cores' share is in `samples`.
std::string sweep_json(const ReportContext& context, const SweepPoint& point, const TierName& tier,
                       const SweepSamples& samples, std::size_t index_dram_bytes);

}  // namespace farvec::cli
