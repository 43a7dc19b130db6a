// This file implements RegionFolder::join: a copy that came back gets what the others hold, while
// the log grows.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "base/error.h"
#include "wal/region_folder.h"

namespace farvec::wal {
namespace {

/// Other threads may write between two parts of this size, and need a moment for it.
constexpr std::size_t kPartBytes = std::size_t{256} << 10;
constexpr std::chrono::microseconds kBreath{50};

}  // namespace

void RegionFolder::look_at_copies() {
  const std::lock_guard lock(mutex_);
  if (opened_ && copies().there >= header_.needed) flush();
}

std::optional<std::size_t> RegionFolder::missing(std::size_t from) const {
  const std::lock_guard lock(mutex_);
  if (!opened_ || copies().there < header_.needed) return std::nullopt;
  for (std::size_t i = from; i < copies_.size(); ++i) {
    if (copies_[i] == nullptr) return i;
  }
  return std::nullopt;
}

void RegionFolder::read_any(std::uint64_t offset, std::span<std::byte> to) {
  require_copies();
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    if (copies_[i] == nullptr) continue;
    try {
      return copies_[i]->read(offset, to);
    } catch (const Error& error) {
      drop(i, error.what());
    }
  }
}

/// Copies a part; false when there is nothing to copy. Writes to the other copies go to this one
/// too meanwhile, so that a part stays equal after it has been copied.
bool RegionFolder::copy_part(std::uint32_t slot, std::uint64_t at) {
  const std::lock_guard lock(mutex_);
  if (joining_ == nullptr) throw Error("it failed while it was brought up");
  const std::uint64_t begin = layout::log_slot_offset(header_, slot);
  if (!is_named(slot)) {
    const std::array<std::byte, sizeof(std::uint64_t)> zeros{};
    joining_->write(begin, zeros);
    joining_->flush();
    return false;
  }
  std::vector<std::byte> bytes(std::min<std::uint64_t>(kPartBytes, header_.slot_bytes - at));
  read_any(begin + at, bytes);
  joining_->write(begin + at, bytes);
  joining_->flush();
  return true;
}

void RegionFolder::copy_slot(std::uint32_t slot, const std::atomic<bool>& stop) {
  for (std::uint64_t at = 0; at < header_.slot_bytes && copy_part(slot, at); at += kPartBytes) {
    // relaxed: only the flag itself matters.
    if (stop.load(std::memory_order_relaxed)) throw Error("the log ends");
    std::this_thread::sleep_for(kBreath);
  }
}

void RegionFolder::join(std::size_t copy, const std::shared_ptr<LogMemory>& memory,
                        const std::atomic<bool>& stop) {
  require_memory_for(header_, *memory);
  const std::array<std::byte, sizeof(layout::LogRegionHeader)> no_header{};
  memory->write(0, no_header);
  memory->flush();
  {
    const std::lock_guard lock(mutex_);
    joining_ = memory;
  }
  try {
    for (std::uint32_t slot = 0; slot < header_.slots; ++slot) copy_slot(slot, stop);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    joining_ = nullptr;
    throw;
  }
  const std::lock_guard lock(mutex_);
  if (joining_ == nullptr) throw Error("it failed while it was brought up");
  copies_[copy] = std::exchange(joining_, nullptr);
  count_copies();
  note_change();
  spdlog::info("the log lies on {} of {} memory nodes again: {} was brought up", copies().there,
               copies().wanted, memory->name());
}

}  // namespace farvec::wal
