// What a log does to its folder: the seam where tests let a disk be full, fail or lose its power.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "layout/index/directory_lock.h"
#include "wal/log_memory.h"
#include "wal/log_source.h"

namespace farvec::wal {

/// A segment's file, open for writing; used by one thread at a time. Everything throws SystemError
/// with the file and, of a write, the offset.
class LogFile {
 public:
  virtual ~LogFile() = default;
  /// All of the bytes, or it throws: then any part of them may be there.
  virtual void write_at(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  /// Returns when all that was written is on the disk.
  virtual void sync() = 0;
  virtual void truncate(std::uint64_t bytes) = 0;
};

/// Shared by threads. Names outlive a loss of power once sync() has returned.
class LogFolder {
 public:
  virtual ~LogFolder() = default;
  virtual const std::filesystem::path& path() const = 0;
  /// The right to append, where the folder itself does not give it: there it is null.
  virtual std::unique_ptr<layout::DirectoryLock> lock() {
    return std::make_unique<layout::DirectoryLock>(path());
  }
  /// What readers see.
  virtual std::shared_ptr<LogSource> source() const { return folder_source(path()); }
  /// Removes what a killed process left without a name.
  virtual void remove_unnamed();
  /// Of the writer; goes into the headers of its segments.
  virtual std::uint32_t epoch() const { return 0; }
  /// In memories elsewhere. Never waits.
  virtual LogCopies copies() const { return {}; }
  /// A new file of zeros in place of any of that name, its bytes allocated on the disk. What throws
  /// leaves no file.
  virtual std::unique_ptr<LogFile> create(const std::string& name, std::uint64_t bytes) = 0;
  virtual std::unique_ptr<LogFile> open(const std::string& name) = 0;
  /// In one step, in place of a file that has the name.
  virtual void rename(const std::string& from, const std::string& to) = 0;
  /// Nothing to do when there is none: a removal whose sync failed is begun again.
  virtual void remove(const std::string& name) = 0;
  virtual void sync() = 0;
};

/// Of the file system.
std::unique_ptr<LogFolder> disk_folder(const std::filesystem::path& path);

/// Whether errno says that a disk or a quota is full.
bool is_full(int errno_value);

}  // namespace farvec::wal
