// Runs the changes and searches of a runbook on an HNSW graph on pages.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/hnsw/page_options.h"
#include "measure/runbook/changing_index.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"

namespace farvec::cli {

struct ChangingHnswOptions {
  std::string folder;
  paged::HnswConfig config;  ///< `type` is the stored one
  std::uint32_t page_bytes = 8192;
  std::uint64_t buffer_bytes = 0;
  std::uint32_t list = 40;     ///< ef of searches
  double vacuum_share = 0.1;   ///< the share of all vertices that may be marked before a vacuum
  std::string order = "none";  ///< order in which the rows of a step are inserted
  PageAccess access;
};

class ChangingHnsw final : public measure::ChangingIndex {
 public:
  /// Makes an empty graph in a new folder. Throws Error.
  explicit ChangingHnsw(const ChangingHnswOptions& options);

  void insert(const VectorView& rows, std::span<const NodeId> ids) override;
  void erase(std::span<const NodeId> ids) override;
  void search(const VectorView& queries, dataset::GroundTruth& results,
              std::vector<float>& latency_us) override;
  measure::DiskBytes disk_bytes() const override;
  std::uint64_t stored_bytes() const override;
  nlohmann::ordered_json describe() const override;

 private:
  const ChangingHnswOptions options_;
  std::unique_ptr<paged::PagedHnsw> hnsw_;
};

}  // namespace farvec::cli
