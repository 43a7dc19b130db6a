// The one link to a modelled device, shared by all cores of a run.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "base/clock.h"
#include "transport/emulated/device_model.h"

namespace farvec::transport {

/// When each read posted to the device is ready. Thread-safe.
class Device {
 public:
  explicit Device(DeviceModel model);

  const DeviceModel& model() const { return model_; }

  /// Queues reads of so many bytes each on the link behind what other cores have queued. `ready`
  /// gets, for each, the time from which on its bytes are there; never descending. Both spans are
  /// equally long.
  void reserve(std::span<const std::uint32_t> bytes, std::span<Ticks> ready);

  /// For how long all reads so far have occupied it, of the part that its readers have.
  double occupied_seconds() const;

 private:
  friend class DeviceReader;

  /// 1/64 of a tick since the device was made: ticks alone would round a 64 B transfer by 10%.
  using Fine = std::uint64_t;
  static constexpr Fine kFinePerTick = 64;
  static constexpr std::uint32_t kNoShift = 32;

  Fine transfer_time(std::uint32_t bytes) const;

  const DeviceModel model_;
  const Ticks origin_;
  const double fine_per_block_;
  const std::uint32_t block_shift_;  ///< of blocks of a power of two; else kNoShift
  const Fine fine_per_request_;
  const Fine latency_;
  /// Relaxed: the value itself is all that cores share through it.
  alignas(64) std::atomic<Fine> link_free_{0};
  std::atomic<Fine> occupied_{0};
  std::atomic<std::uint32_t> readers_{0};
};

/// A core that reads from a device, for as long as this lives.
class DeviceReader {
 public:
  /// Null: none.
  explicit DeviceReader(std::shared_ptr<Device> device);
  ~DeviceReader();
  DeviceReader(const DeviceReader&) = delete;
  DeviceReader& operator=(const DeviceReader&) = delete;

  Device* operator->() const { return device_.get(); }

 private:
  const std::shared_ptr<Device> device_;
};

}  // namespace farvec::transport
