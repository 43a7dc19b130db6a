// A SegmentLog is the Log: appended records wait in groups, which one thread writes and syncs for
// all.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "layout/index/directory_lock.h"
#include "wal/log.h"
#include "wal/log_segment_files.h"

namespace farvec::wal {

/// Works like Log::create() and Log::open(), in a folder that exists. When `log_id` is 0 a random
/// one is used.
std::unique_ptr<Log> create_log(const LogOptions& options, std::unique_ptr<LogFolder> folder,
                                std::uint64_t log_id = 0);
std::unique_ptr<Log> open_log(const LogOptions& options, std::unique_ptr<LogFolder> folder);

/// Records that one write and one sync make durable. They are in one segment.
struct Group {
  Position begin = 0;
  std::vector<std::byte> bytes;          ///< headers without in_group and checksum
  std::optional<NewLogSegment> segment;  ///< the segment that begins with this group
};

class SegmentLog final : public Log {
 public:
  /// Appends to `segment`, which is published and empty.
  SegmentLog(const LogOptions& options, std::unique_ptr<layout::DirectoryLock> lock,
             std::unique_ptr<LogSegmentFiles> files, NewLogSegment segment);
  ~SegmentLog() override;

  using Log::append;
  Result<Position> append(std::span<const std::span<const std::byte>> parts,
                          Ticks deadline) override;
  Status wait_for_room(std::uint64_t record_bytes, Ticks deadline) override;
  std::size_t max_record_bytes() const override;
  Position end() const override { return end_.load(std::memory_order_acquire); }
  Position durable() const override { return durable_.load(std::memory_order_acquire); }
  Status failure() const override;
  void request(Position position) override;
  Status flush(Position position, Ticks deadline) override;
  Status wait(Position position, Ticks deadline) override;
  void cut(Position position) override;
  std::uint64_t disk_bytes() const override { return files_->disk_bytes(); }
  Position begin() const override { return files_->begin(); }
  LogCopies copies() const override { return files_->folder().copies(); }

 private:
  using Lock = std::unique_lock<std::mutex>;

  // Called by threads that append.
  Status wait_for_frame(Lock& lock, std::uint64_t frame_bytes, Ticks deadline);
  Status begin_segment(Lock& lock, std::uint64_t frame_bytes);
  void put(std::span<const std::span<const std::byte>> parts, std::uint32_t length,
           std::uint32_t bytes_crc);
  bool fits(std::uint64_t frame_bytes) const;
  std::uint64_t pending() const;
  void want(Position position);

  // Called by the log's own thread.
  void run();
  bool is_due() const;
  bool wait_for_work(Lock& lock);
  Status write(Group& group);
  void close_segment();

  const LogOptions options_;
  const std::unique_ptr<layout::DirectoryLock> directory_lock_;
  const std::unique_ptr<LogSegmentFiles> files_;

  mutable std::mutex mutex_;
  std::condition_variable work_;  ///< the log's thread waits on it until something is due
  std::condition_variable done_;  ///< other threads wait on it for progress, or for an allocation
  std::deque<Group> groups_;
  layout::LogSegmentHeader filling_;   ///< the segment that append() fills
  std::optional<NewLogSegment> next_;  ///< allocated; begins with the next record
  bool allocating_ = false;            ///< a thread that appends is allocating, without mutex_
  bool full_ = false;                  ///< the last allocation found no room
  bool stopping_ = false;
  Position wanted_ = 0;  ///< a caller waits for it
  Status failure_;
  std::chrono::steady_clock::time_point next_write_;  ///< with Durability::interval

  std::atomic<Position> end_;      ///< changed with mutex_ held
  std::atomic<Position> durable_;  ///< changed with mutex_ held

  // Used only by the log's own thread.
  NewLogSegment writing_;
  std::vector<std::byte> spare_;  ///< a former group's memory; with mutex_ held

  std::thread thread_;
};

}  // namespace farvec::wal
