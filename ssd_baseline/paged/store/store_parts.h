// StoreParts are what a page store is built on: the log and the disk. Tests give it others.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "base/status.h"
#include "disk/disk_engine.h"
#include "ssd_baseline/paged/store/page_store.h"
#include "wal/log_reader.h"

namespace farvec::paged {

/// A log that is read for recovery, see wal::LogReader.
class RecordSource {
 public:
  virtual ~RecordSource() = default;
  virtual std::optional<wal::LogRecord> next() = 0;
  virtual std::uint64_t torn_bytes() const = 0;
};

class StoreParts {
 public:
  virtual ~StoreParts() = default;
  virtual std::unique_ptr<wal::Log> create_log(const wal::LogOptions& options) = 0;
  virtual std::unique_ptr<wal::Log> open_log(const wal::LogOptions& options) = 0;
  virtual std::unique_ptr<RecordSource> read_log(const std::filesystem::path& folder,
                                                 wal::Position from) = 0;
  /// Any thread may call it; one thread at a time uses the queue.
  virtual std::unique_ptr<disk::BlockQueue> open_queue(disk::DiskFiles files,
                                                       std::uint32_t capacity,
                                                       disk::DiskThread thread) = 0;
  virtual Status grow(disk::DiskFile& file, std::uint64_t bytes) = 0;
};

std::unique_ptr<PageStore> create_store(const PageStoreOptions& options,
                                        std::shared_ptr<StoreParts> parts);
std::unique_ptr<PageStore> open_store(const PageStoreOptions& options,
                                      const std::shared_ptr<StoreParts>& parts);

}  // namespace farvec::paged
