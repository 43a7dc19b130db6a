#include "wal/log_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/file_names.h"
#include "wal/log_segment_list.h"

namespace farvec::wal {
namespace {

class DiskFile final : public LogFile {
 public:
  DiskFile(std::string path, int flags)
      : path_(std::move(path)), fd_(::open(path_.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0644)) {
    if (!fd_.valid()) throw SystemError(errno, "opening '{}' for writing", path_);
  }

  void allocate(std::uint64_t bytes) {
    int failed = EINTR;
    while (failed == EINTR) failed = posix_fallocate(fd_.get(), 0, static_cast<off_t>(bytes));
    if (failed != 0) throw SystemError(failed, "allocating {} bytes for '{}'", bytes, path_);
  }

  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t done =
          pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) {
        throw SystemError(done < 0 ? errno : EIO, "writing '{}' at offset {}", path_, offset);
      }
      offset += static_cast<std::uint64_t>(done);
      bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
  }

  void sync() override {
    if (fdatasync(fd_.get()) != 0) throw SystemError(errno, "syncing '{}'", path_);
  }

  void truncate(std::uint64_t bytes) override {
    if (ftruncate(fd_.get(), static_cast<off_t>(bytes)) != 0) {
      throw SystemError(errno, "truncating '{}' to {} bytes", path_, bytes);
    }
  }

 private:
  std::string path_;
  Descriptor fd_;
};

class DiskFolder final : public LogFolder {
 public:
  explicit DiskFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const override { return path_; }

  std::unique_ptr<LogFile> create(const std::string& name, std::uint64_t bytes) override {
    const std::string path = file(name);
    // Zeros are promised, so the bytes of an existing file of that name must not be reused.
    unlink(path.c_str());
    try {
      auto made = std::make_unique<DiskFile>(path, O_WRONLY | O_CREAT | O_EXCL);
      made->allocate(bytes);
      return made;
    } catch (const SystemError&) {
      unlink(path.c_str());
      throw;
    }
  }

  std::unique_ptr<LogFile> open(const std::string& name) override {
    return std::make_unique<DiskFile>(file(name), O_WRONLY);
  }

  void rename(const std::string& from, const std::string& to) override {
    rename_path(file(from), file(to));
  }

  void remove(const std::string& name) override {
    if (unlink(file(name).c_str()) != 0 && errno != ENOENT) {
      throw SystemError(errno, "removing '{}'", file(name));
    }
  }

  void sync() override { sync_directory(path_); }

 private:
  std::string file(const std::string& name) const { return (path_ / name).string(); }

  std::filesystem::path path_;
};

}  // namespace

void LogFolder::remove_unnamed() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path())) {
    const std::string name = entry.path().filename().string();
    if (is_partial_segment(name)) names.push_back(name);
  }
  for (const std::string& name : names) remove(name);
}

std::unique_ptr<LogFolder> disk_folder(const std::filesystem::path& path) {
  return std::make_unique<DiskFolder>(path);
}

}  // namespace farvec::wal
