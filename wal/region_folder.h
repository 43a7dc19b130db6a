// The segments of a log on memories elsewhere, as the log's writer makes them.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "layout/log/log_region.h"
#include "wal/log_file.h"
#include "wal/log_memory.h"
#include "wal/region_source.h"

namespace farvec::wal {

/// Every write goes to all copies that are left. A copy that fails is one no more, which the others
/// tell who reads; when fewer than `needed` are left, everything throws.
class RegionFolder final : public LogFolder {
 public:
  /// The copies hold the same segments, or none. `header` is this writer's.
  RegionFolder(LogMemories copies, const layout::LogRegionHeader& header);

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

 private:
  class File;

  /// Each copy that is left; one that throws is dropped.
  template <class Action>
  void on_copies(const Action& action);
  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  void flush();
  void write_header();
  void note_change();
  void clear(std::uint32_t slot);
  std::uint32_t free_slot() const;
  void drop(std::size_t copy, const std::string& why);
  void require_copies() const;

  mutable std::mutex mutex_;
  LogMemories copies_;
  layout::LogRegionHeader header_;
  std::filesystem::path path_;
  std::map<std::string, std::uint32_t> slots_;
  bool opened_ = false;  ///< the segment that an opening begins is there
};

}  // namespace farvec::wal
