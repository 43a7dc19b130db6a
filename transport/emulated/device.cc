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

/// Called by the one thread that stores the counter, so without a locked instruction.
void increase(std::atomic<std::uint64_t>& counter, std::uint64_t by) {
  counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

}  // namespace

Device::Device(DeviceModel model)
    : model_(std::move(model)),
      origin_(now_ticks()),
      parts_per_block_(parts(model_.block_bytes)),
      parts_per_header_(parts(model_.header_bytes)),
      fine_per_request_(
          static_cast<Fine>(std::ceil(fine_per_us(kFinePerTick) / model_.requests_per_us))),
      latency_(static_cast<Fine>(std::ceil(fine_per_us(kFinePerTick) * model_.latency_us))),
      fine_per_interruption_(fine_per_us(kFinePerTick) * model_.interruption_us),
      cores_(model_.cores),
      block_bytes_(model_.block_bytes),
      block_shift_(std::has_single_bit(model_.block_bytes)
                       ? static_cast<std::uint32_t>(std::countr_zero(model_.block_bytes))
                       : kNoShift) {}

std::uint64_t Device::parts(std::uint32_t bytes) const {
  const double fine = fine_per_us(kFinePerTick) * bytes / (model_.bandwidth_gbps * 1e3);
  return static_cast<std::uint64_t>(std::llround(fine * (1u << kPartShift)));
}

void Device::Counts::add(const Counts& other) {
  increase(occupied, other.occupied.load(std::memory_order_relaxed));
  increase(short_reads, other.short_reads.load(std::memory_order_relaxed));
  increase(long_reads, other.long_reads.load(std::memory_order_relaxed));
}

/// Returns how many interruptions the chain's reads bring, with reads of other cores or with each
/// other. Every read makes a pair with a read that waits, or waits itself.
inline std::uint64_t Device::interruptions(const Chain& chain) {
  const std::int64_t shorts = chain.shorts;
  const std::int64_t longs = chain.longs;
  std::int64_t before = unpaired_.load(std::memory_order_relaxed);
  // Searches that read only one kind find as many waiting reads as are remembered: nothing changes.
  if (longs == 0 && before <= -kRemembered) return 0;
  if (shorts == 0 && before >= kRemembered) return 0;
  before = unpaired_.fetch_add(longs - shorts, std::memory_order_relaxed);
  std::int64_t after = before + longs - shorts;
  if (std::abs(after) > kRemembered) {
    // If another core comes in between, that core does it.
    unpaired_.compare_exchange_strong(after, after > 0 ? kRemembered : -kRemembered,
                                      std::memory_order_relaxed);
  }
  return (std::abs(before) + shorts + longs - std::abs(before + longs - shorts)) / 2;
}

/// Returns the time at which the link is free for this chain.
inline Device::Fine Device::take_link(Fine occupied, bool shared) {
  const Fine now = (now_ticks() - origin_) * kFinePerTick;
  Fine free = link_free_.load(std::memory_order_relaxed);
  Fine start = std::max(now, free);
  if (!shared) {
    // A locked instruction would wait for all that the search has stored before it. If a second
    // reader comes at this very moment, its first reads are a few nanoseconds early.
    link_free_.store(start + occupied, std::memory_order_relaxed);
    return start;
  }
  // Lock-free: a core fails here only because another one succeeded.
  while (!link_free_.compare_exchange_weak(free, start + occupied, std::memory_order_relaxed)) {
    start = std::max(now, free);
  }
  return start;
}

Ticks Device::reserve(const Chain& chain, std::uint32_t readers, double slowdown, Counts& counts) {
  Fine interrupted = 0;
  if (fine_per_interruption_ > 0) {
    increase(counts.short_reads, static_cast<std::uint64_t>(chain.shorts));
    increase(counts.long_reads, static_cast<std::uint64_t>(chain.longs));
    const std::uint64_t times = interruptions(chain);
    if (times > 0) {
      interrupted = to_fine(static_cast<double>(times) * fine_per_interruption_ * slowdown);
    }
  }
  const Fine start = take_link(interrupted + chain.occupied, readers > 1);
  increase(counts.occupied, chain.occupied);
  return origin_ + (start + latency_ + interrupted + chain.there) / kFinePerTick + 1;
}

DeviceUse Device::use() const {
  Counts all;
  {
    const std::lock_guard lock(counting_);
    all.add(gone_);
    for (const Counts* counts : counts_) all.add(*counts);
  }
  return {static_cast<double>(all.occupied) / fine_per_us(kFinePerTick) / 1e6, all.short_reads,
          all.long_reads};
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
  device_->readers_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(device_->counting_);
  device_->counts_.push_back(&counts_);
}

DeviceReader::~DeviceReader() {
  device_->readers_.fetch_sub(1, std::memory_order_relaxed);
  const std::lock_guard lock(device_->counting_);
  device_->gone_.add(counts_);
  std::erase(device_->counts_, &counts_);
}

IdleReaders::IdleReaders(std::shared_ptr<Device> device, std::uint32_t count)
    : device_(std::move(device)), count_(count) {
  if (device_ != nullptr) device_->readers_.fetch_sub(count_, std::memory_order_relaxed);
}

IdleReaders::~IdleReaders() {
  if (device_ != nullptr) device_->readers_.fetch_add(count_, std::memory_order_relaxed);
}

}  // namespace farvec::transport
