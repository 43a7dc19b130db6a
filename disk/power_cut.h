// A PowerCut is a disk that loses its power, and with it parts of what was not synced, to test
// recovery.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "disk/block_queue.h"

namespace farvec::disk {

/// Remembers what writes of its queues replace until a sync that began after them has ended. When
/// the power is off every request ends with EIO and changes nothing. Threads share it.
class PowerCut {
 public:
  explicit PowerCut(std::uint64_t seed) : random_(seed) {}

  /// Cuts the power after this many more writes and syncs.
  void cut_after(std::uint64_t requests);
  void cut();
  bool off() const { return off_.load(std::memory_order_acquire); }  // pairs with cut()

  /// Call it when all queues are gone. Each 512-byte sector that was written and not synced then
  /// holds one of the versions that it has had since. The power is on again afterwards.
  void lose_unsynced();

 private:
  friend class PowerCutQueue;
  struct Write {
    std::string path;
    std::uint64_t offset = 0;
    std::vector<std::byte> before;
    std::vector<std::byte> after;
    bool ended = false;
  };

  bool admit(const BlockRequest& request);
  std::shared_ptr<Write> remember(const DiskFile& file, const BlockRequest& request);
  std::vector<std::shared_ptr<Write>> ended_writes();
  void forget(const std::vector<std::shared_ptr<Write>>& writes);

  std::mutex mutex_;
  Random random_;
  std::uint64_t left_ = ~std::uint64_t{0};
  std::atomic<bool> off_ = false;
  std::vector<std::shared_ptr<Write>> writes_;  ///< in the order of their submission
};

class PowerCutQueue final : public BlockQueue {
 public:
  PowerCutQueue(std::unique_ptr<BlockQueue> below, std::shared_ptr<PowerCut> power)
      : below_(std::move(below)), power_(std::move(power)) {}

  const DiskFiles& files() const override { return below_->files(); }
  std::uint32_t capacity() const override { return below_->capacity(); }
  void register_memory(std::span<std::byte> memory) override { below_->register_memory(memory); }
  void submit(std::span<const BlockRequest> requests) override;
  void cancel(std::span<const std::uint64_t> ids) override { below_->cancel(ids); }
  std::size_t reap(std::span<BlockResult> results) override;
  std::string description() const override { return "mortal " + below_->description(); }

 private:
  /// An Out is a write, or a sync with the writes that it makes durable.
  struct Out {
    std::uint64_t id = 0;
    bool sync = false;
    std::vector<std::shared_ptr<PowerCut::Write>> writes;
  };

  std::unique_ptr<BlockQueue> below_;
  std::shared_ptr<PowerCut> power_;
  std::vector<Out> out_;
  std::vector<BlockResult> ready_;
};

}  // namespace farvec::disk
