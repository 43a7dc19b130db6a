// Runs the changes and searches of a runbook on an HNSW graph on pages.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/runbook/runbook_options.h"
#include "measure/runbook/runbook_index.h"
#include "ssd_baseline/paged/cores/changing_hnsw.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"

namespace farvec::cli {

struct RunbookHnswOptions {
  paged::HnswConfig config;  ///< `type` is the stored one
  std::uint32_t page_bytes = 8192;
  std::uint64_t buffer_bytes = 0;
  double vacuum_share = 0.1;   ///< the share of all vertices that may be marked before a vacuum
  std::string order = "none";  ///< order in which the rows of a step are inserted
};

class RunbookHnsw final : public measure::RunbookIndex {
 public:
  /// Makes an empty graph in a new folder. Throws Error.
  RunbookHnsw(const RunbookOptions& run, const RunbookHnswOptions& options);

  changes::Changing& changing() override { return changing_; }
  /// Runs a vacuum where more than the share is marked.
  void settle() override;
  void search(const VectorView& queries, dataset::GroundTruth& results,
              std::vector<float>& latency_us) override;
  measure::DiskBytes disk_bytes() const override;
  std::uint64_t stored_bytes() const override;
  nlohmann::ordered_json describe() const override;

 private:
  const RunbookOptions run_;
  const RunbookHnswOptions options_;
  const std::unique_ptr<paged::PagedHnsw> hnsw_;
  paged::ChangingHnsw changing_;
  std::vector<std::unique_ptr<search::SearchCore>> cores_;
};

}  // namespace farvec::cli
