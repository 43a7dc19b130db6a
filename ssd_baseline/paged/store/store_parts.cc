#include "ssd_baseline/paged/store/store_parts.h"

#include "base/file_names.h"
#include "disk/uring_queue.h"

namespace farvec::paged {
namespace {

class WalSource final : public RecordSource {
 public:
  WalSource(const std::filesystem::path& folder, wal::Position from) : reader_(folder, from) {}
  std::optional<wal::LogRecord> next() override { return reader_.next(); }
  std::uint64_t torn_bytes() const override { return reader_.torn_bytes(); }

 private:
  wal::LogReader reader_;
};

class WalParts final : public StoreParts {
 public:
  std::unique_ptr<wal::Log> create_log(const wal::LogOptions& options) override {
    return wal::Log::create(options);
  }
  std::unique_ptr<wal::Log> open_log(const wal::LogOptions& options) override {
    return wal::Log::open(options);
  }
  std::unique_ptr<RecordSource> read_log(const std::filesystem::path& folder,
                                         wal::Position from) override {
    return std::make_unique<WalSource>(folder, from);
  }
  std::unique_ptr<disk::BlockQueue> open_queue(disk::DiskFiles files, std::uint32_t capacity,
                                               disk::DiskThread thread) override {
    const disk::UringOptions ring{.capacity = capacity, .plain = thread == disk::DiskThread::any};
    return std::make_unique<disk::UringQueue>(std::move(files), ring);
  }
  Status grow(disk::DiskFile& file, std::uint64_t bytes) override { return file.grow(bytes); }
};

PageStoreOptions settled(PageStoreOptions options) {
  options.folder = settled_path(options.folder);
  return options;
}

}  // namespace

std::unique_ptr<PageStore> PageStore::create(const PageStoreOptions& options) {
  return create_store(settled(options), std::make_shared<WalParts>());
}

std::unique_ptr<PageStore> PageStore::open(const PageStoreOptions& options) {
  return open_store(settled(options), std::make_shared<WalParts>());
}

}  // namespace farvec::paged
