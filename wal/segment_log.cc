#include "wal/segment_log.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/full_disk.h"
#include "base/log.h"
#include "base/memory.h"
#include "layout/crc32c.h"
#include "layout/log/log_frame.h"

namespace farvec::wal {

using layout::LogFrameHeader;
using Clock = std::chrono::steady_clock;

namespace {

/// A deadline so far away that it is as good as none.
constexpr double kLongestWaitUs = 3600e6;

constexpr Status kFull{StatusCode::resource_exhausted,
                       "the log has no room for another segment: its disk, or its part of a memory "
                       "node, is full"};
constexpr Status kNoSegment{StatusCode::unavailable, "the log could not make a segment"};
constexpr Status kTooLarge{StatusCode::invalid_argument, "the record does not fit a log segment"};
constexpr Status kBehindEnd{StatusCode::invalid_argument, "the position is after the log's end"};
constexpr Status kDiskIsSlow{StatusCode::deadline_exceeded,
                             "the log's disk did not take what waits for it in time"};
constexpr Status kDeadline{StatusCode::deadline_exceeded, "the log's records are not durable yet"};
constexpr Status kEnded{StatusCode::unavailable, "the log has ended: a write failed"};
constexpr Status kEndedFull{StatusCode::resource_exhausted,
                            "the log has ended: its disk had no room for a write"};

Clock::time_point time_of(Ticks deadline) {
  const Ticks now = now_ticks();
  const double us = deadline > now ? std::min(ticks_to_us(deadline - now), kLongestWaitUs) : 0;
  return Clock::now() + std::chrono::microseconds(static_cast<std::int64_t>(us));
}

std::chrono::microseconds microseconds(double us) {
  return std::chrono::microseconds(static_cast<std::int64_t>(us));
}

/// Makes room like growing would, or as much as is wanted if that is more.
void make_room_for(std::vector<std::byte>& bytes, std::size_t more) {
  if (bytes.size() + more <= bytes.capacity()) return;
  bytes.reserve(std::max(2 * bytes.capacity(), bytes.size() + more));
}

void add_bytes(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

/// Writes into every header the group with which it is written.
void seal_group(Group& group, std::uint32_t seed) {
  std::size_t at = 0;
  while (at < group.bytes.size()) {
    LogFrameHeader header;
    std::memcpy(&header, group.bytes.data() + at, sizeof(header));
    header.in_group = static_cast<std::uint32_t>(at);
    layout::seal_log_frame(header, seed);
    std::memcpy(group.bytes.data() + at, &header, sizeof(header));
    at += layout::log_frame_bytes(header.length);
  }
}

/// The size of a segment that has room for one such frame and can be closed.
std::uint64_t least_segment_bytes(std::uint64_t frame_bytes) {
  const std::uint64_t bytes = layout::kLogHeaderBytes + frame_bytes + sizeof(LogFrameHeader);
  return std::max(kMinSegmentBytes, round_up(bytes, kSegmentGranule));
}

std::uint64_t offset_of(Position position, const layout::LogSegmentHeader& segment) {
  return layout::kLogHeaderBytes + (position - segment.first);
}

}  // namespace

SegmentLog::SegmentLog(const LogOptions& options, std::unique_ptr<layout::DirectoryLock> lock,
                       std::unique_ptr<LogSegmentFiles> files, NewLogSegment segment)
    : options_(options),
      directory_lock_(std::move(lock)),
      files_(std::move(files)),
      filling_(segment.header),
      wanted_(segment.header.first),
      next_write_(Clock::now() + microseconds(options.interval_us)),
      end_(segment.header.first),
      durable_(segment.header.first),
      writing_(std::move(segment)),
      thread_([this] { run(); }) {}

SegmentLog::~SegmentLog() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    work_.notify_one();
  }
  thread_.join();
}

std::size_t SegmentLog::max_record_bytes() const {
  return options_.segment_bytes - layout::kLogHeaderBytes - 2 * sizeof(LogFrameHeader);
}

/// Room is always left for the header that says that the log was closed.
bool SegmentLog::fits(std::uint64_t frame_bytes) const {
  const std::uint64_t used = offset_of(end(), filling_) + frame_bytes + sizeof(LogFrameHeader);
  return used <= filling_.segment_bytes;
}

std::uint64_t SegmentLog::pending() const {
  return end() - durable();
}

void SegmentLog::want(Position position) {
  wanted_ = std::max(wanted_, position);
  work_.notify_one();
}

Result<Position> SegmentLog::append(std::span<const std::span<const std::byte>> parts,
                                    Ticks deadline) {
  std::uint64_t length = 0;
  std::uint32_t bytes_crc = 0;
  for (const auto& part : parts) length += part.size();
  if (length > max_record_bytes()) return kTooLarge;
  for (const auto& part : parts) bytes_crc = layout::crc32c(part, bytes_crc);
  Lock lock(mutex_);
  const std::uint64_t frame_bytes = layout::log_frame_bytes(length);
  if (const Status status = wait_for_frame(lock, frame_bytes, deadline); !status.ok()) {
    return status;
  }
  if (!fits(frame_bytes)) {
    if (const Status status = begin_segment(lock, frame_bytes); !status.ok()) return status;
  }
  put(parts, static_cast<std::uint32_t>(length), bytes_crc);
  if (options_.durability == Durability::commit) wanted_ = end();
  work_.notify_one();
  return end();
}

Status SegmentLog::wait_for_room(std::uint64_t record_bytes, Ticks deadline) {
  Lock lock(mutex_);
  return wait_for_frame(lock, layout::log_frame_bytes(record_bytes), deadline);
}

Status SegmentLog::wait_for_frame(Lock& lock, std::uint64_t frame_bytes, Ticks deadline) {
  const auto may_go_on = [&] {
    if (!failure_.ok()) return true;
    return !allocating_ && (pending() == 0 || pending() + frame_bytes <= options_.pending_bytes);
  };
  if (!may_go_on()) {
    want(end());
    const auto longest = Clock::now() + microseconds(kAppendWaitUs);
    if (!done_.wait_until(lock, std::min(time_of(deadline), longest), may_go_on)) {
      return kDiskIsSlow;
    }
  }
  return failure_;
}

/// Begins the segment for the next record. Its bytes are allocated here: a thread that has them
/// when the log takes a record knows that the disk has room for it.
Status SegmentLog::begin_segment(Lock& lock, std::uint64_t frame_bytes) {
  layout::LogSegmentHeader header = filling_;
  header.number += 1;
  header.salt = random_word();
  header.segment_bytes = options_.segment_bytes;
  header.first = header.previous_end = end();
  allocating_ = true;
  lock.unlock();
  Status status;
  std::optional<NewLogSegment> segment;
  try {
    segment = files_->allocate(header, least_segment_bytes(frame_bytes));
  } catch (const SystemError& error) {
    status = is_full_disk(error.code) ? kFull : kNoSegment;
    if (!full_) spdlog::warn("{}; records are refused until it succeeds", error.what());
    // Threads that wait for the segment go on, whatever the error is.
  } catch (const std::exception& error) {
    status = kNoSegment;
    spdlog::warn("{}; this record is refused", error.what());
  }
  lock.lock();
  allocating_ = false;
  full_ = !status.ok();
  done_.notify_all();
  if (!failure_.ok() || !status.ok()) return failure_.ok() ? status : failure_;
  next_ = std::move(segment);
  filling_ = next_->header;
  return {};
}

void SegmentLog::put(std::span<const std::span<const std::byte>> parts, std::uint32_t length,
                     std::uint32_t bytes_crc) {
  const Position position = end();
  const std::uint64_t frame_bytes = layout::log_frame_bytes(length);
  // All memory that is needed is allocated first, so that without memory no half of a frame is
  // there.
  if (next_ || groups_.empty()) {
    make_room_for(spare_, frame_bytes);
    groups_.emplace_back();
    groups_.back() = {position, std::exchange(spare_, {}), std::exchange(next_, std::nullopt)};
  } else {
    make_room_for(groups_.back().bytes, frame_bytes);
  }
  std::vector<std::byte>& bytes = groups_.back().bytes;
  const std::size_t frame_end = bytes.size() + frame_bytes;
  const LogFrameHeader header{.length = length, .position = position, .bytes_crc = bytes_crc};
  add_bytes(bytes, std::as_bytes(std::span(&header, 1)));
  for (const auto& part : parts) add_bytes(bytes, part);
  bytes.resize(frame_end);
  // Release: a thread that reads this position may ask for what is before it.
  end_.store(position + layout::log_frame_bytes(length), std::memory_order_release);
}

Status SegmentLog::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void SegmentLog::request(Position position) {
  if (durable() >= position) return;
  const std::lock_guard lock(mutex_);
  want(std::min(position, end()));
}

Status SegmentLog::flush(Position position, Ticks deadline) {
  if (durable() >= position) return {};
  Lock lock(mutex_);
  if (position > end()) return kBehindEnd;
  want(position);
  const auto done = [&] { return durable() >= position || !failure_.ok(); };
  if (!done_.wait_until(lock, time_of(deadline), done)) return kDeadline;
  return durable() >= position ? Status() : failure_;
}

Status SegmentLog::wait(Position position, Ticks deadline) {
  return options_.durability == Durability::commit ? flush(position, deadline) : failure();
}

void SegmentLog::cut(Position position) {
  try {
    files_->cut(position);
  } catch (const std::exception& error) {
    spdlog::warn("{}; the log keeps its segments from there on", error.what());
  }
}

bool SegmentLog::is_due() const {
  if (groups_.empty()) return false;
  const bool in_time = options_.durability == Durability::interval && Clock::now() >= next_write_;
  return stopping_ || in_time || wanted_ > durable() || pending() >= options_.pending_bytes / 2;
}

/// Waits for work; false when there will be none.
bool SegmentLog::wait_for_work(Lock& lock) {
  while (!is_due()) {
    if (stopping_) return false;
    if (options_.durability == Durability::interval && !groups_.empty()) {
      work_.wait_until(lock, next_write_);
    } else {
      work_.wait(lock);
    }
  }
  return true;
}

void SegmentLog::run() {
  Lock lock(mutex_);
  while (failure_.ok() && wait_for_work(lock)) {
    Group group = std::move(groups_.front());
    groups_.pop_front();
    lock.unlock();
    const Status status = write(group);
    const Position end = group.begin + group.bytes.size();
    group.bytes.clear();
    lock.lock();
    failure_ = status;
    // Release: a thread that sees it may write what these records describe.
    if (status.ok()) durable_.store(end, std::memory_order_release);
    spare_ = std::move(group.bytes);
    next_write_ = Clock::now() + microseconds(options_.interval_us);
    done_.notify_all();
  }
  groups_.clear();
  lock.unlock();
  if (failure_.ok()) close_segment();
}

Status SegmentLog::write(Group& group) {
  try {
    if (group.segment) {
      writing_ = std::move(*group.segment);
      files_->publish(writing_);
    }
    seal_group(group, layout::log_frame_seed(writing_.header.salt));
    writing_.file->write_at(offset_of(group.begin, writing_.header), group.bytes);
    writing_.file->sync();
    return {};
  } catch (const SystemError& error) {
    spdlog::error("the log in '{}' has ended: {}", files_->folder().path().string(), error.what());
    return is_full_disk(error.code) ? kEndedFull : kEnded;
  } catch (const std::exception& error) {
    spdlog::error("the log in '{}' has ended: {}", files_->folder().path().string(), error.what());
    return kEnded;
  }
}

/// Proves that all records are durable, also the last ones, which have no record after them that
/// would prove it.
void SegmentLog::close_segment() {
  LogFrameHeader header{.length = layout::kLogClosed, .position = end()};
  layout::seal_log_frame(header, layout::log_frame_seed(writing_.header.salt));
  try {
    writing_.file->write_at(offset_of(end(), writing_.header),
                            std::as_bytes(std::span(&header, 1)));
    writing_.file->sync();
  } catch (const std::exception& error) {
    spdlog::warn("closing the log: {}; its records are durable", error.what());
  }
}

}  // namespace farvec::wal
