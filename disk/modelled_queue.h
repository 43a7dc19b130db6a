// A ModelledQueue is a block queue whose requests end when a modelled disk says. The bytes come
// from the queue below it, by real requests, which take the processor's time that they take.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "disk/block_queue.h"
#include "disk/modelled_disk.h"

namespace farvec::disk {

/// Returns microseconds; of now_ticks(), but in tests.
using MicrosecondClock = std::function<double()>;
double microseconds_now();

class ModelledQueue final : public BlockQueue {
 public:
  ModelledQueue(std::unique_ptr<BlockQueue> below, std::shared_ptr<ModelledDisk> disk,
                MicrosecondClock clock = microseconds_now)
      : below_(std::move(below)), disk_(std::move(disk)), clock_(std::move(clock)) {}
  /// Writes a warning where requests have ended later than the model says, since the queue below
  /// took longer.
  ~ModelledQueue() override;

  const DiskFiles& files() const override { return below_->files(); }
  std::uint32_t capacity() const override { return below_->capacity(); }
  void register_memory(std::span<std::byte> memory) override { below_->register_memory(memory); }
  void submit(std::span<const BlockRequest> requests) override;
  /// They end as soon as the queue below has returned them.
  void cancel(std::span<const std::uint64_t> ids) override;
  std::size_t reap(std::span<BlockResult> results) override;
  std::string description() const override;

  /// Returns how many requests were not there from below when they should have ended.
  std::uint64_t late() const { return late_; }
  std::uint64_t ended() const { return ended_; }

 private:
  struct Waiting {
    double end = 0;
    BlockResult result;

    bool operator>(const Waiting& other) const { return end > other.end; }
  };

  void take_results();

  const std::unique_ptr<BlockQueue> below_;
  const std::shared_ptr<ModelledDisk> disk_;
  const MicrosecondClock clock_;
  std::unordered_map<std::uint64_t, double> ends_;  ///< when requests end that are below
  /// Results that are there, the one that ends first on top.
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
  double last_look_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t ended_ = 0;
};

}  // namespace farvec::disk
