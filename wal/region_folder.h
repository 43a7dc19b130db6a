// The segments of a log on memories elsewhere, as the log's writer makes them.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "layout/log/log_region.h"
#include "wal/log_file.h"
#include "wal/log_memory.h"
#include "wal/region_source.h"

namespace farvec::wal {

class ReturningCopies;

/// Every write goes to all copies that are left. A copy that fails is one no more, which the others
/// tell who reads; when fewer than `needed` are left, everything throws. One that comes back is
/// brought up beside the writes, by a thread of the folder's own.
class RegionFolder final : public LogFolder {
 public:
  /// The copies hold the same segments, or none. `header` is this writer's. `reach` null: none
  /// comes back.
  RegionFolder(LogMemories copies, const layout::LogRegionHeader& header, LogReach reach = nullptr);
  ~RegionFolder() override;

  const std::filesystem::path& path() const override { return path_; }
  /// The lease for writing is the right to write.
  std::unique_ptr<layout::DirectoryLock> lock() override { return nullptr; }
  std::shared_ptr<LogSource> source() const override;
  void remove_unnamed() override;
  std::uint32_t epoch() const override { return header_.epoch; }

  /// ENOSPC also while a few slots are left: those are for who goes on after a kill.
  std::unique_ptr<LogFile> create(const std::string& name, std::uint64_t bytes) override;
  std::unique_ptr<LogFile> open(const std::string& name) override;
  void rename(const std::string& from, const std::string& to) override;
  void remove(const std::string& name) override;
  void sync() override;
  LogCopies copies() const override;

  /// Drops those that are known to have died, also while nothing is written.
  void look_at_copies();
  /// The first one from there on that is to be reached again; nothing while the log is opened, when
  /// all are there, and when it has ended.
  std::optional<std::size_t> missing(std::size_t from) const;
  /// Writes to it as to the others from when it holds what they do. Until then it holds no log: it
  /// does not count for who opens the log. Throws Error when that fails, or `stop` became true;
  /// then it is missing as before.
  void join(std::size_t copy, const std::shared_ptr<LogMemory>& memory,
            const std::atomic<bool>& stop);

 private:
  class File;

  /// Each copy that is left; one that throws is dropped.
  template <class Action>
  void on_copies(const Action& action);
  template <class Action>
  void on_joining(const Action& action);
  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  void flush();
  void write_header();
  void note_change();
  void clear(std::uint32_t slot);
  std::uint32_t free_slot() const;
  void drop(std::size_t copy, const std::string& why);
  void require_copies() const;
  void count_copies();
  void copy_slot(std::uint32_t slot, const std::atomic<bool>& stop);
  bool copy_part(std::uint32_t slot, std::uint64_t at);
  /// From a copy that answers; the others are dropped.
  void read_any(std::uint64_t offset, std::span<std::byte> to);
  bool is_named(std::uint32_t slot) const;

  mutable std::mutex mutex_;
  LogMemories copies_;
  layout::LogRegionHeader header_;
  std::filesystem::path path_;
  std::map<std::string, std::uint32_t> slots_;
  bool opened_ = false;                         ///< the segment that an opening begins is there
  std::shared_ptr<LogMemory> joining_;          ///< written like a copy, but for the header
  std::atomic<std::uint32_t> there_{0};         ///< relaxed: a count to tell
  std::unique_ptr<ReturningCopies> returning_;  ///< last: it uses the rest
};

}  // namespace farvec::wal
