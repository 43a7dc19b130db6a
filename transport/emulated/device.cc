#include "transport/emulated/device.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace farvec::transport {

namespace {

double fine_per_us(double fine_per_tick) {
  return ticks_per_us() * fine_per_tick;
}

}  // namespace

Device::Device(DeviceModel model)
    : model_(std::move(model)),
      origin_(now_ticks()),
      fine_per_block_(fine_per_us(kFinePerTick) * model_.block_bytes /
                      (model_.bandwidth_gbps * 1e3)),
      fine_per_header_(fine_per_us(kFinePerTick) * model_.header_bytes /
                       (model_.bandwidth_gbps * 1e3)),
      block_shift_(std::has_single_bit(model_.block_bytes)
                       ? static_cast<std::uint32_t>(std::countr_zero(model_.block_bytes))
                       : kNoShift),
      fine_per_request_(
          static_cast<Fine>(std::ceil(fine_per_us(kFinePerTick) / model_.requests_per_us))),
      latency_(static_cast<Fine>(std::ceil(fine_per_us(kFinePerTick) * model_.latency_us))),
      fine_per_interruption_(fine_per_us(kFinePerTick) * model_.interruption_us) {}

Device::Fine Device::transfer_time(std::uint32_t bytes) const {
  const std::uint64_t rounded = std::uint64_t{bytes} + model_.block_bytes - 1;
  const std::uint64_t blocks =
      block_shift_ != kNoShift ? rounded >> block_shift_ : rounded / model_.block_bytes;
  return static_cast<Fine>(fine_per_header_ + static_cast<double>(blocks) * fine_per_block_) + 1;
}

/// Of reads by others or by each other. Every read makes a pair with one that waits, or waits.
std::uint64_t Device::interruptions(std::span<const std::uint32_t> bytes) {
  if (fine_per_interruption_ == 0) return 0;
  std::int64_t shorts = 0;
  std::int64_t longs = 0;
  for (const std::uint32_t length : bytes) {
    shorts += length <= kMostShortBytes ? 1 : 0;
    longs += length >= kLeastLongBytes ? 1 : 0;
  }
  if (shorts > 0) short_reads_.fetch_add(shorts, std::memory_order_relaxed);
  if (longs > 0) long_reads_.fetch_add(longs, std::memory_order_relaxed);
  const std::int64_t before = unpaired_.fetch_add(longs - shorts, std::memory_order_relaxed);
  std::int64_t after = before + longs - shorts;
  if (std::abs(after) > kRemembered) {
    // Where another core comes between, that core does it.
    unpaired_.compare_exchange_strong(after, after > 0 ? kRemembered : -kRemembered,
                                      std::memory_order_relaxed);
  }
  return (std::abs(before) + shorts + longs - std::abs(before + longs - shorts)) / 2;
}

void Device::reserve(std::span<const std::uint32_t> bytes, std::span<Ticks> ready) {
  const double slowdown = model_.slowdown(readers_.load(std::memory_order_relaxed));
  const auto interrupted = static_cast<Fine>(static_cast<double>(interruptions(bytes)) *
                                             fine_per_interruption_ * slowdown);
  Fine occupied = interrupted;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const Fine transfer = transfer_time(bytes[i]);
    ready[i] = occupied + transfer;  // after the start of this chain of reads
    const Fine alone = std::max(transfer, fine_per_request_);
    occupied += slowdown > 1 ? static_cast<Fine>(static_cast<double>(alone) * slowdown) : alone;
  }
  const Fine now = (now_ticks() - origin_) * kFinePerTick;
  Fine free = link_free_.load(std::memory_order_relaxed);
  Fine start = std::max(now, free);
  // Lock-free: a core that fails here has seen another one succeed.
  while (!link_free_.compare_exchange_weak(free, start + occupied, std::memory_order_relaxed)) {
    start = std::max(now, free);
  }
  occupied_.fetch_add(occupied - interrupted, std::memory_order_relaxed);
  for (Ticks& time : ready) time = origin_ + (start + latency_ + time) / kFinePerTick + 1;
}

DeviceUse Device::use() const {
  return {static_cast<double>(occupied_.load(std::memory_order_relaxed)) /
              fine_per_us(kFinePerTick) / 1e6,
          short_reads_.load(std::memory_order_relaxed),
          long_reads_.load(std::memory_order_relaxed)};
}

double Device::seconds_since(const DeviceUse& before) const {
  const DeviceUse now = use();
  const double interrupted_ns =
      model_.interruptions_ns(static_cast<double>(now.short_reads - before.short_reads),
                              static_cast<double>(now.long_reads - before.long_reads));
  return now.occupied_seconds - before.occupied_seconds +
         interrupted_ns * 1e-9 * model_.slowdown(readers_.load(std::memory_order_relaxed));
}

DeviceReader::DeviceReader(std::shared_ptr<Device> device) : device_(std::move(device)) {
  if (device_ != nullptr) device_->readers_.fetch_add(1, std::memory_order_relaxed);
}

DeviceReader::~DeviceReader() {
  if (device_ != nullptr) device_->readers_.fetch_sub(1, std::memory_order_relaxed);
}

IdleReaders::IdleReaders(std::shared_ptr<Device> device, std::uint32_t count)
    : device_(std::move(device)), count_(count) {
  if (device_ != nullptr) device_->readers_.fetch_sub(count_, std::memory_order_relaxed);
}

IdleReaders::~IdleReaders() {
  if (device_ != nullptr) device_->readers_.fetch_add(count_, std::memory_order_relaxed);
}

}  // namespace farvec::transport
