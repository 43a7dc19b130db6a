// A RegionFolder has the segments of a log on memories elsewhere, for the log's writer.
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

/// Every write goes to all copies that are left. A copy that fails does not count any more, and the
/// headers of the other copies tell readers so. When fewer than `needed` copies are left,
/// everything throws. The folder's own thread brings a copy that comes back up to date beside the
/// writes.
class RegionFolder final : public LogFolder {
 public:
  /// The copies hold the same segments, or none. `header` is this writer's. When `reach` is null,
  /// no copy comes back.
  RegionFolder(LogMemories copies, const layout::LogRegionHeader& header, LogReach reach = nullptr);
  ~RegionFolder() override;

  const std::filesystem::path& path() const override { return path_; }
  /// The lease for writing is the right to write.
  std::unique_ptr<layout::DirectoryLock> lock() override { return nullptr; }
  std::shared_ptr<LogSource> source() const override;
  void remove_unnamed() override;
  std::uint32_t epoch() const override { return header_.epoch; }

  /// Throws ENOSPC also while a few slots are left: those are for a writer that goes on after a
  /// kill.
  std::unique_ptr<LogFile> create(const std::string& name, std::uint64_t bytes) override;
  std::unique_ptr<LogFile> open(const std::string& name) override;
  void rename(const std::string& from, const std::string& to) override;
  void remove(const std::string& name) override;
  void sync() override;
  LogCopies copies() const override;

  /// Drops the copies that are known to have died, even while nothing is written.
  void look_at_copies();
  /// Returns the first copy from `from` on that has to be reached again; nothing while the log is
  /// being opened, when all copies are there, and when the log has ended.
  std::optional<std::size_t> missing(std::size_t from) const;
  /// Adds a copy: it is written like the others when it holds what they hold. Until then it holds
  /// no log, and does not count when the log is opened. Throws Error when that fails, or `stop`
  /// became true; then the copy is missing as before.
  void join(std::size_t copy, const std::shared_ptr<LogMemory>& memory,
            const std::atomic<bool>& stop);

 private:
  class File;

  /// Does `action` on each copy that is left; a copy that throws is dropped.
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
  /// Reads from a copy that answers; copies that do not are dropped.
  void read_any(std::uint64_t offset, std::span<std::byte> to);
  bool is_named(std::uint32_t slot) const;

  mutable std::mutex mutex_;
  LogMemories copies_;
  layout::LogRegionHeader header_;
  std::filesystem::path path_;
  std::map<std::string, std::uint32_t> slots_;
  /// Whether the segment that an opening begins is there.
  bool opened_ = false;
  std::shared_ptr<LogMemory> joining_;   ///< written like a copy, except for the header
  std::atomic<std::uint32_t> there_{0};  ///< relaxed: a count for reports
  /// Declared last, because it uses the other members.
  std::unique_ptr<ReturningCopies> returning_;
};

}  // namespace farvec::wal
