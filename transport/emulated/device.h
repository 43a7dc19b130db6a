// A Device is the one link to a modelled device, which all cores of a run share.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/memory.h"
#include "transport/emulated/device_model.h"

namespace farvec::transport {

/// Says what a device was asked for since it was made.
struct DeviceUse {
  /// Time that each read alone takes, on the part of the device that its readers have.
  double occupied_seconds = 0;
  /// Reads that may interrupt; not counted where interruptions cost nothing.
  std::uint64_t short_reads = 0;
  /// Reads that may be interrupted; not counted where interruptions cost nothing.
  std::uint64_t long_reads = 0;
};

/// Computes when the reads posted to the device have arrived, which its readers ask for.
/// Thread-safe.
///
/// Which short read interrupts which long one depends on the order in which they come. How many do
/// does not depend on it, except for reads that come more than kRemembered reads apart.
class alignas(kCacheLineBytes) Device {
 public:
  explicit Device(DeviceModel model);

  const DeviceModel& model() const { return model_; }

  /// Returns the use by all readers, also by readers that are gone.
  DeviceUse use() const;
  /// Says how long the reads since `before` occupy the device, interruptions included: exact, in
  /// whatever order they came. Computed for the present number of readers.
  double seconds_since(const DeviceUse& before) const;

 private:
  friend class DeviceReader;
  friend class IdleReaders;

  /// Time since the device was made, in 1/64 of a tick: ticks alone would round a 64 B transfer by
  /// 10%.
  using Fine = std::uint64_t;
  static constexpr Fine kFinePerTick = 64;
  /// A Fine has 2^8 parts, for sums of blocks.
  static constexpr std::uint32_t kPartShift = 8;
  static constexpr std::uint32_t kNoShift = 32;
  /// The most reads that wait for one to interrupt, or for one that interrupts them: as many as a
  /// device has in flight. Earlier reads were over.
  static constexpr std::int64_t kRemembered = 1024;

  /// Counts has the counts of one reader, which alone stores them. Relaxed: nothing else depends on
  /// them.
  struct Counts {
    std::atomic<Fine> occupied{0};
    std::atomic<std::uint64_t> short_reads{0};
    std::atomic<std::uint64_t> long_reads{0};

    void add(const Counts& other);
  };

  /// Returns the time that `bytes` bytes take the link, in parts.
  std::uint64_t parts(std::uint32_t bytes) const;
  Fine transfer_time(std::uint32_t bytes) const {
    const std::uint64_t rounded = std::uint64_t{bytes} + block_bytes_ - 1;
    const std::uint64_t blocks =
        block_shift_ != kNoShift ? rounded >> block_shift_ : rounded / block_bytes_;
    return ((parts_per_header_ + blocks * parts_per_block_) >> kPartShift) + 1;
  }
  /// Converts by way of a signed number, which takes one instruction.
  static Fine to_fine(double value) { return static_cast<Fine>(static_cast<std::int64_t>(value)); }
  /// Reads that are posted together.
  struct Chain {
    Fine occupied = 0;  ///< time that they occupy the link, without interruptions
    Fine there = 0;     ///< time from the chain's beginning until the last of them has arrived
    std::int64_t shorts = 0;
    std::int64_t longs = 0;
  };

  /// Adds a read to a chain whose reads have all been counted as short ones.
  void append(Chain& chain, std::uint32_t bytes, double slowdown) const {
    if (bytes > kMostShortBytes) [[unlikely]] {
      --chain.shorts;
      chain.longs += bytes >= kLeastLongBytes ? 1 : 0;
    }
    const Fine transfer = transfer_time(bytes);
    chain.there = chain.occupied + transfer;
    const Fine alone = std::max(transfer, fine_per_request_);
    chain.occupied += slowdown > 1 ? to_fine(static_cast<double>(alone) * slowdown) : alone;
  }
  Ticks reserve(const Chain& chain, std::uint32_t readers, double slowdown, Counts& counts);
  std::uint64_t interruptions(const Chain& chain);
  Fine take_link(Fine occupied, bool shared);

  const DeviceModel model_;
  /// All that a chain needs is in one cache line.
  alignas(kCacheLineBytes) const Ticks origin_;
  const std::uint64_t parts_per_block_;
  const std::uint64_t parts_per_header_;
  const Fine fine_per_request_;
  const Fine latency_;
  const double fine_per_interruption_;
  const std::uint32_t cores_;  ///< the model's, and so are the bytes of a block
  const std::uint32_t block_bytes_;
  const std::uint32_t block_shift_;  ///< for blocks of a power of two; else kNoShift
  /// Relaxed: cores share nothing but the value itself through it.
  alignas(kCacheLineBytes) std::atomic<Fine> link_free_{0};
  /// Long reads that no short one has interrupted yet, or minus the short ones that have
  /// interrupted none.
  std::atomic<std::int64_t> unpaired_{0};
  std::atomic<std::uint32_t> readers_{0};
  mutable std::mutex counting_;  ///< guards the members below
  std::vector<const Counts*> counts_;
  Counts gone_;  ///< counts of readers that are gone
};

/// A DeviceReader is a core that reads from a device, for as long as this object lives. One thread
/// uses it and stores to it with every chain: its owner gives it a cache line that no other thread
/// stores to or reads.
class DeviceReader {
 public:
  explicit DeviceReader(std::shared_ptr<Device> device);
  ~DeviceReader();
  DeviceReader(const DeviceReader&) = delete;
  DeviceReader& operator=(const DeviceReader&) = delete;

  const DeviceModel& model() const { return device_->model(); }

  /// Queues reads, at least one, on the link after those that other cores have queued; `bytes` says
  /// how long each read is. Returns the time at which all their bytes have arrived; the times never
  /// descend.
  template <typename Read, typename Bytes>
  Ticks reserve(std::span<const Read> reads, Bytes bytes) {
    const std::uint32_t readers = device_->readers_.load(std::memory_order_relaxed);
    const double slowdown = device_->cores_ > readers ? device_->model_.slowdown(readers) : 1.0;
    Device::Chain chain{.shorts = static_cast<std::int64_t>(reads.size())};
    for (const Read& read : reads) {
      device_->append(chain, std::invoke(bytes, read), slowdown);
    }
    return device_->reserve(chain, readers, slowdown, counts_);
  }
  Ticks reserve(std::span<const std::uint32_t> bytes) { return reserve(bytes, std::identity()); }

 private:
  const std::shared_ptr<Device> device_;
  Device::Counts counts_;
};

/// Makes `count` of a device's readers count as idle, for as long as this object lives.
class IdleReaders {
 public:
  /// `device` may be null; then it does nothing.
  IdleReaders(std::shared_ptr<Device> device, std::uint32_t count);
  ~IdleReaders();
  IdleReaders(const IdleReaders&) = delete;
  IdleReaders& operator=(const IdleReaders&) = delete;

 private:
  const std::shared_ptr<Device> device_;
  const std::uint32_t count_;
};

}  // namespace farvec::transport
