#include "wal/region_folder.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"
#include "wal/returning_copies.h"

namespace farvec::wal {
namespace {

/// One in this many slots is kept for openings.
constexpr std::uint32_t kKeptShare = 4;
/// Between two pieces of this size other threads may write.
constexpr std::size_t kZeroBytes = std::size_t{256} << 10;
/// The bytes of the word that says that a slot holds a segment.
constexpr std::size_t kMagicBytes = sizeof(std::uint64_t);

}  // namespace

class RegionFolder::File final : public LogFile {
 public:
  File(RegionFolder& folder, std::uint32_t slot)
      : folder_(folder), begin_(layout::log_slot_offset(folder.header_, slot)) {}

  /// A header's first word is written when the rest is there, so that a reader that sees it sees a
  /// header.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    const std::lock_guard lock(folder_.mutex_);
    if (offset > 0) return folder_.write(begin_ + offset, bytes);
    folder_.write(begin_ + kMagicBytes, bytes.subspan(kMagicBytes));
    folder_.flush();
    folder_.write(begin_, bytes.first(kMagicBytes));
  }
  void sync() override {
    const std::lock_guard lock(folder_.mutex_);
    folder_.flush();
  }
  void truncate(std::uint64_t) override {}  // a slot keeps its bytes

 private:
  RegionFolder& folder_;
  const std::uint64_t begin_;
};

RegionFolder::RegionFolder(LogMemories copies, const layout::LogRegionHeader& header,
                           LogReach reach)
    : copies_(std::move(copies)), header_(header) {
  const auto source = RegionSource::make(copies_, header.log_id, RegionSource::Quorum::none);
  path_ = source->name();
  const std::lock_guard lock(mutex_);
  count_copies();
  require_copies();
  write_header();
  const std::vector<LogSegment> segments = source->segments();
  for (std::size_t i = 0; i < segments.size(); ++i) {
    slots_[log_segment_name(segments[i].header.number)] = source->slots()[i];
  }
  if (reach) returning_ = std::make_unique<ReturningCopies>(*this, std::move(reach));
}

RegionFolder::~RegionFolder() = default;

std::shared_ptr<LogSource> RegionFolder::source() const {
  const std::lock_guard lock(mutex_);
  return RegionSource::make(copies_, header_.log_id, RegionSource::Quorum::none);
}

void RegionFolder::count_copies() {
  const auto there = std::count_if(copies_.begin(), copies_.end(),
                                   [](const auto& copy) { return copy != nullptr; });
  there_.store(static_cast<std::uint32_t>(there), std::memory_order_relaxed);
}

LogCopies RegionFolder::copies() const {
  return {header_.copies, there_.load(std::memory_order_relaxed)};
}

void RegionFolder::require_copies() const {
  const std::uint32_t left = copies().there;
  if (left >= header_.needed) return;
  throw SystemError(EIO, "{} of {} memory nodes are left that have the log, {} are needed", left,
                    copies_.size(), header_.needed);
}

/// The other copies say so before anything is acknowledged without this one.
void RegionFolder::drop(std::size_t copy, const std::string& why) {
  spdlog::error("the log goes on without one of its memory nodes: {}", why);
  copies_[copy] = nullptr;
  count_copies();
  require_copies();
  note_change();
}

template <class Action>
void RegionFolder::on_joining(const Action& action) {
  if (joining_ == nullptr) return;
  try {
    action(*joining_);
  } catch (const Error& error) {
    spdlog::warn("a memory node of the log came back and failed again: {}", error.what());
    joining_ = nullptr;
  }
}

template <class Action>
void RegionFolder::on_copies(const Action& action) {
  require_copies();
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    if (copies_[i] == nullptr) continue;
    try {
      action(*copies_[i]);
    } catch (const Error& error) {
      drop(i, error.what());
    }
  }
}

void RegionFolder::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  on_copies([&](LogMemory& copy) { copy.write(offset, bytes); });
  if (offset > 0) on_joining([&](LogMemory& copy) { copy.write(offset, bytes); });
}

void RegionFolder::flush() {
  on_copies([](LogMemory& copy) { copy.flush(); });
  on_joining([](LogMemory& copy) { copy.flush(); });
}

void RegionFolder::write_header() {
  write(0, layout::encode_log_region(header_));
  flush();
}

void RegionFolder::note_change() {
  ++header_.changes;
  write_header();
}

void RegionFolder::clear(std::uint32_t slot) {
  const std::array<std::byte, kMagicBytes> zeros{};
  write(layout::log_slot_offset(header_, slot), zeros);
  flush();
}

bool RegionFolder::is_named(std::uint32_t slot) const {
  return std::any_of(slots_.begin(), slots_.end(),
                     [&](const auto& entry) { return entry.second == slot; });
}

void RegionFolder::remove_unnamed() {
  const std::lock_guard lock(mutex_);
  for (std::uint32_t slot = 0; slot < header_.slots; ++slot) {
    if (!is_named(slot)) clear(slot);
  }
}

std::uint32_t RegionFolder::free_slot() const {
  std::vector<bool> taken(header_.slots);
  for (const auto& [name, slot] : slots_) taken[slot] = true;
  const auto free = static_cast<std::uint32_t>(std::count(taken.begin(), taken.end(), false));
  if (free <= (opened_ ? header_.slots / kKeptShare : 0)) {
    throw SystemError(ENOSPC, "{}: {} of {} slots hold segments that are needed", path_.string(),
                      header_.slots - free, header_.slots);
  }
  return static_cast<std::uint32_t>(std::find(taken.begin(), taken.end(), false) - taken.begin());
}

std::unique_ptr<LogFile> RegionFolder::create(const std::string& name, std::uint64_t bytes) {
  std::unique_lock lock(mutex_);
  if (bytes != header_.slot_bytes) {
    throw SystemError(EINVAL, "{}: a slot has {} bytes, not {}", path_.string(), header_.slot_bytes,
                      bytes);
  }
  slots_.erase(name);
  const std::uint32_t slot = free_slot();
  clear(slot);
  slots_[name] = slot;
  const std::vector<std::byte> zeros(kZeroBytes);
  try {
    for (std::uint64_t at = 0; at < bytes; at += kZeroBytes) {
      const std::uint64_t part = std::min<std::uint64_t>(kZeroBytes, bytes - at);
      write(layout::log_slot_offset(header_, slot) + at, std::span(zeros).first(part));
      flush();
      lock.unlock();
      lock.lock();
    }
  } catch (...) {
    slots_.erase(name);
    throw;
  }
  opened_ = true;
  return std::make_unique<File>(*this, slot);
}

std::unique_ptr<LogFile> RegionFolder::open(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return std::make_unique<File>(*this, slots_.at(name));
}

void RegionFolder::rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  if (const auto replaced = slots_.find(to); replaced != slots_.end()) clear(replaced->second);
  slots_[to] = slots_.at(from);
  slots_.erase(from);
  note_change();
}

void RegionFolder::remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = slots_.find(name);
  if (found == slots_.end()) return;
  clear(found->second);
  slots_.erase(found);
  note_change();
}

void RegionFolder::sync() {
  const std::lock_guard lock(mutex_);
  flush();
}

}  // namespace farvec::wal
