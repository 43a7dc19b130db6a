#include "transport/emulated/device.h"

#include <algorithm>
#include <bit>
#include <cmath>
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
      block_shift_(std::has_single_bit(model_.block_bytes)
                       ? static_cast<std::uint32_t>(std::countr_zero(model_.block_bytes))
                       : kNoShift),
      fine_per_request_(
          static_cast<Fine>(std::ceil(fine_per_us(kFinePerTick) / model_.requests_per_us))),
      latency_(static_cast<Fine>(std::ceil(fine_per_us(kFinePerTick) * model_.latency_us))) {}

Device::Fine Device::transfer_time(std::uint32_t bytes) const {
  const std::uint64_t rounded = std::uint64_t{bytes} + model_.block_bytes - 1;
  const std::uint64_t blocks =
      block_shift_ != kNoShift ? rounded >> block_shift_ : rounded / model_.block_bytes;
  return static_cast<Fine>(static_cast<double>(blocks) * fine_per_block_) + 1;
}

void Device::reserve(std::span<const std::uint32_t> bytes, std::span<Ticks> ready) {
  const double slowdown = model_.slowdown(readers_.load(std::memory_order_relaxed));
  Fine occupied = 0;
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
  occupied_.fetch_add(occupied, std::memory_order_relaxed);
  for (Ticks& time : ready) time = origin_ + (start + latency_ + time) / kFinePerTick + 1;
}

double Device::occupied_seconds() const {
  return static_cast<double>(occupied_.load(std::memory_order_relaxed)) /
         fine_per_us(kFinePerTick) / 1e6;
}

DeviceReader::DeviceReader(std::shared_ptr<Device> device) : device_(std::move(device)) {
  if (device_ != nullptr) device_->readers_.fetch_add(1, std::memory_order_relaxed);
}

DeviceReader::~DeviceReader() {
  if (device_ != nullptr) device_->readers_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace farvec::transport
