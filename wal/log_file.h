// LogFile and LogFolder are what a log does to its folder. Tests replace them to let a disk be
// full, fail or lose its power.
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

/// A LogFile is a segment's file, open for writing; one thread at a time uses it. Every member
/// throws SystemError with the file and, for a write, the offset.
class LogFile {
 public:
  virtual ~LogFile() = default;
  /// Writes all bytes, or throws; then any part of them may have been written.
  virtual void write_at(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  /// Returns when everything written is on the disk.
  virtual void sync() = 0;
  virtual void truncate(std::uint64_t bytes) = 0;
};

/// Threads share it. Names outlive a loss of power when sync() has returned.
class LogFolder {
 public:
  virtual ~LogFolder() = default;
  virtual const std::filesystem::path& path() const = 0;
  /// Takes the right to append, where the folder itself does not give it; there the result is null.
  virtual std::unique_ptr<layout::DirectoryLock> lock() {
    return std::make_unique<layout::DirectoryLock>(path());
  }
  /// Returns the log in the form that readers see.
  virtual std::shared_ptr<LogSource> source() const { return folder_source(path()); }
  /// Removes unnamed files that a killed process left.
  virtual void remove_unnamed();
  /// Returns the epoch of the writer, which goes into the headers of its segments.
  virtual std::uint32_t epoch() const { return 0; }
  /// Returns the state of the copies in memories elsewhere. Never waits.
  virtual LogCopies copies() const { return {}; }
  /// Makes a new file of zeros, which replaces any file of that name; its bytes are allocated on
  /// the disk. When it throws, there is no file.
  virtual std::unique_ptr<LogFile> create(const std::string& name, std::uint64_t bytes) = 0;
  virtual std::unique_ptr<LogFile> open(const std::string& name) = 0;
  /// Renames in one step; a file that has the name is replaced.
  virtual void rename(const std::string& from, const std::string& to) = 0;
  /// Does nothing when the file does not exist: a removal whose sync failed is repeated.
  virtual void remove(const std::string& name) = 0;
  virtual void sync() = 0;
};

/// Returns a folder of the file system.
std::unique_ptr<LogFolder> disk_folder(const std::filesystem::path& path);

}  // namespace farvec::wal
