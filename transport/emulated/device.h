// The one link to a modelled device, shared by all cores of a run.
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

/// What a device was asked for since it was made.
struct DeviceUse {
  double occupied_seconds = 0;    ///< by each read alone, of the part that its readers have
  std::uint64_t short_reads = 0;  ///< that may interrupt; not counted where that costs nothing
  std::uint64_t long_reads = 0;   ///< the same of those that may be interrupted
};

/// When the reads posted to the device are there, which its readers ask for. Thread-safe.
///
/// Which short read interrupts which long one depends on who comes when; how many do does not, but
/// for those that come too far apart: kRemembered reads.
class alignas(kCacheLineBytes) Device {
 public:
  explicit Device(DeviceModel model);

  const DeviceModel& model() const { return model_; }

  /// By all readers, also those that are gone.
  DeviceUse use() const;
  /// For how long the reads since then occupy it, interruptions included: exact, in whatever order
  /// they came. For as many readers as there are now.
  double seconds_since(const DeviceUse& before) const;

 private:
  friend class DeviceReader;
  friend class IdleReaders;

  /// 1/64 of a tick since the device was made: ticks alone would round a 64 B transfer by 10%.
  using Fine = std::uint64_t;
  static constexpr Fine kFinePerTick = 64;
  /// A 256th of that, for sums of blocks.
  static constexpr std::uint32_t kPartShift = 8;
  static constexpr std::uint32_t kNoShift = 32;
  /// Most reads that wait for one to interrupt, or be interrupted by: as many as a device has in
  /// flight. Those before them were over.
  static constexpr std::int64_t kRemembered = 1024;

  /// Of one reader, which alone stores them. Relaxed: nothing else depends on them.
  struct Counts {
    std::atomic<Fine> occupied{0};
    std::atomic<std::uint64_t> short_reads{0};
    std::atomic<std::uint64_t> long_reads{0};

    void add(const Counts& other);
  };

  /// Of the time that so many bytes take the link.
  std::uint64_t parts(std::uint32_t bytes) const;
  Fine transfer_time(std::uint32_t bytes) const {
    const std::uint64_t rounded = std::uint64_t{bytes} + block_bytes_ - 1;
    const std::uint64_t blocks =
        block_shift_ != kNoShift ? rounded >> block_shift_ : rounded / block_bytes_;
    return ((parts_per_header_ + blocks * parts_per_block_) >> kPartShift) + 1;
  }
  /// Signed in between: one instruction.
  static Fine to_fine(double value) { return static_cast<Fine>(static_cast<std::int64_t>(value)); }
  /// Reads that are posted together.
  struct Chain {
    Fine occupied = 0;  ///< of the link, interruptions apart
    Fine there = 0;     ///< from its beginning until the last of them has come
    std::int64_t shorts = 0;
    std::int64_t longs = 0;
  };

  /// The chain's reads have been counted as short ones.
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
  /// What a chain needs, in one line.
  alignas(kCacheLineBytes) const Ticks origin_;
  const std::uint64_t parts_per_block_;
  const std::uint64_t parts_per_header_;
  const Fine fine_per_request_;
  const Fine latency_;
  const double fine_per_interruption_;
  const std::uint32_t cores_;  ///< the model's, as are the bytes of a block
  const std::uint32_t block_bytes_;
  const std::uint32_t block_shift_;  ///< of blocks of a power of two; else kNoShift
  /// Relaxed: the value itself is all that cores share through it.
  alignas(kCacheLineBytes) std::atomic<Fine> link_free_{0};
  /// Long reads that no short one has interrupted yet, or minus the short ones that have
  /// interrupted none.
  std::atomic<std::int64_t> unpaired_{0};
  std::atomic<std::uint32_t> readers_{0};
  mutable std::mutex counting_;  ///< guards what follows
  std::vector<const Counts*> counts_;
  Counts gone_;  ///< of readers that are
};

/// A core that reads from a device, for as long as this lives. Used by one thread, which stores to
/// it with every chain: its owner gives it a cache line that no other thread stores to or reads.
class DeviceReader {
 public:
  explicit DeviceReader(std::shared_ptr<Device> device);
  ~DeviceReader();
  DeviceReader(const DeviceReader&) = delete;
  DeviceReader& operator=(const DeviceReader&) = delete;

  const DeviceModel& model() const { return device_->model(); }

  /// Queues reads, at least one, on the link behind what other cores have queued; `bytes` says of
  /// each how long it is. Returns the time from which on all their bytes are there; never
  /// descending.
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

/// So many of a device's readers do not read, for as long as this lives.
class IdleReaders {
 public:
  /// Null: none.
  IdleReaders(std::shared_ptr<Device> device, std::uint32_t count);
  ~IdleReaders();
  IdleReaders(const IdleReaders&) = delete;
  IdleReaders& operator=(const IdleReaders&) = delete;

 private:
  const std::shared_ptr<Device> device_;
  const std::uint32_t count_;
};

}  // namespace farvec::transport
