#include "wal/log_source.h"

#include <sys/stat.h>

#include <system_error>

#include "base/file_names.h"
#include "base/input_file.h"

namespace farvec::wal {
namespace {

class FileBytes final : public LogSegmentBytes {
 public:
  explicit FileBytes(const LogSegment& segment)
      : file_(segment.path),
        next_(std::filesystem::path(segment.path).parent_path() /
              log_segment_name(segment.header.number + 1)) {}

  const std::string& path() const override { return file_.path(); }
  /// The size may shrink: a log that is closed while it is read gives back what it had allocated.
  std::uint64_t size() override {
    struct stat now {};
    if (fstat(file_.descriptor(), &now) != 0) return file_.size();
    return static_cast<std::uint64_t>(now.st_size);
  }
  void read_at(std::uint64_t offset, void* out, std::size_t bytes) override {
    file_.read_at(offset, out, bytes);
  }
  /// Another file with its name, or none, says that the folder has changed, and so does a file with
  /// the next name.
  bool is_last() override {
    struct stat own {};
    struct stat named {};
    std::error_code error;
    return fstat(file_.descriptor(), &own) == 0 && stat(file_.path().c_str(), &named) == 0 &&
           own.st_dev == named.st_dev && own.st_ino == named.st_ino &&
           !std::filesystem::exists(next_, error) && !error;
  }

 private:
  InputFile file_;
  std::filesystem::path next_;
};

class FolderSource final : public LogSource {
 public:
  explicit FolderSource(const std::filesystem::path& folder)
      : folder_(settled_path(folder)), name_(folder_.string()) {}

  const std::string& name() const override { return name_; }
  std::vector<LogSegment> segments() override { return list_log_segments(folder_); }
  std::unique_ptr<LogSegmentBytes> open(const LogSegment& segment) override {
    return std::make_unique<FileBytes>(segment);
  }

 private:
  const std::filesystem::path folder_;
  const std::string name_;
};

}  // namespace

std::shared_ptr<LogSource> folder_source(const std::filesystem::path& folder) {
  return std::make_shared<FolderSource>(folder);
}

}  // namespace farvec::wal
