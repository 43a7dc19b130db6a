// PagedChanges are a graph on pages that clients of a compute node change.
#pragma once

#include <memory>
#include <utility>

#include "compute_node/service/served_changes.h"
#include "ssd_baseline/paged/cores/changing_hnsw.h"

namespace farvec::compute_node {

/// The cores that serve the graph's queue make the changes.
class PagedChanges final : public ServedChanges {
 public:
  /// The most rows of one call: inserts of some milliseconds each end long before the deadline.
  static constexpr std::size_t kMostRows = 256;
  static constexpr std::size_t kMostIds = 4096;

  PagedChanges(std::shared_ptr<paged::PagedHnsw> hnsw, paged::HnswCrewOptions crew,
               const indexing::OrderOptions& order)
      : hnsw_(std::move(hnsw)), changing_(*hnsw_, std::move(crew), order) {}

  changes::Changing& index() override { return changing_; }
  std::size_t most_rows() const override { return kMostRows; }
  std::size_t most_ids() const override { return kMostIds; }
  void tell_state(collection::v1::StatsResponse& out) override;
  void drain() override { changing_.stop_vacuum(); }

 private:
  const std::shared_ptr<paged::PagedHnsw> hnsw_;
  paged::ChangingHnsw changing_;
};

}  // namespace farvec::compute_node
