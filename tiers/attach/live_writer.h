// A LiveWriter is a writer that dies with its lease.
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "tiers/attach/lease_keeper.h"
#include "transport/region_writer.h"

namespace farvec::tiers {

/// Refuses to write once the lease was lost or, by this machine's own clock, has run out. So a
/// process that was stopped for longer than its lease finds out before it writes to what may belong
/// to another writer by now. When the writer below fails, all others of the attachment learn it.
class LiveWriter final : public transport::RegionWriter {
 public:
  LiveWriter(std::unique_ptr<transport::RegionWriter> below, std::shared_ptr<Liveness> liveness)
      : below_(std::move(below)), liveness_(std::move(liveness)) {}

  Status write(transport::RegionId region, std::uint64_t offset,
               std::span<const std::byte> bytes) override {
    if (!check().ok()) return status_;
    const Status status = below_->write(region, offset, bytes);
    note();
    return status;
  }
  Status flush() override {
    if (!check().ok()) return status_;
    const Status status = below_->flush();
    note();
    return status.ok() ? check() : status;
  }
  std::uint64_t region_bytes(transport::RegionId region) const override {
    return below_->region_bytes(region);
  }
  const Status& status() const override { return status_; }

 private:
  const Status& check() {
    if (!status_.ok()) return status_;
    if (!liveness_->alive.load(std::memory_order_relaxed)) {
      status_ = {StatusCode::unavailable, "the lease for writing was lost, or the node is gone"};
    } else if (std::chrono::steady_clock::now().time_since_epoch() >=
               liveness_->lease_end.load(std::memory_order_relaxed)) {
      status_ = {StatusCode::unavailable, "the lease for writing has run out"};
      liveness_->alive.store(false, std::memory_order_relaxed);
    }
    return status_;
  }
  void note() {
    if (below_->status().ok()) return;
    status_ = below_->status();
    liveness_->alive.store(false, std::memory_order_relaxed);
  }

  const std::unique_ptr<transport::RegionWriter> below_;
  const std::shared_ptr<Liveness> liveness_;
  Status status_;
};

}  // namespace farvec::tiers
