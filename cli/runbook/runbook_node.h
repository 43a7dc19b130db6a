// Runs the changes and searches of a runbook on what a compute node serves, over its calls.
#pragma once

#include <memory>
#include <vector>

#include "cli/runbook/runbook_options.h"
#include "client/remote_collection.h"
#include "client/remote_node.h"
#include "measure/runbook/runbook_index.h"

namespace farvec::cli {

struct RunbookNodeOptions {
  client::NodeAccess node;
  Metric metric = Metric::l2;
  std::uint32_t probe = 16;   ///< clusters that searches probe, where the node has clusters
  double vacuum_share = 0.1;  ///< the share of a graph on pages that may be marked before a vacuum
};

/// Has as many calls of one query under way as the run has slots. What the index is and how it is
/// searched was chosen where the node was started.
class RunbookNode final : public measure::RunbookIndex {
 public:
  /// Connects. Throws Error when the node does not answer, takes no changes, or has rows already.
  RunbookNode(const RunbookOptions& run, const RunbookNodeOptions& options);

  changes::Changing& changing() override { return changing_; }
  /// Asks for a vacuum where more than the share is marked, and waits for it.
  void settle() override;
  void search(const VectorView& queries, dataset::GroundTruth& results,
              std::vector<float>& latency_us) override;
  measure::DiskBytes disk_bytes() const override;
  std::uint64_t stored_bytes() const override;
  nlohmann::ordered_json describe() const override;

 private:
  collection::v1::StatsResponse stats() const;

  const RunbookOptions run_;
  const RunbookNodeOptions options_;
  client::RemoteCollection changing_;
  std::vector<std::unique_ptr<compute_node::v1::ComputeNode::Stub>> stubs_;  ///< one per slot
};

}  // namespace farvec::cli
