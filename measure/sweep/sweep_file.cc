#include "measure/sweep/sweep_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/error.h"
#include "base/output_file.h"
#include "base/output_target.h"
#include "base/progress.h"
#include "measure/page/report_page.h"
#include "measure/report/json_rows.h"

namespace farvec::measure {

SweepFile::SweepFile(std::string path, ExistingFile existing) : path_(std::move(path)) {
  if (path_.empty()) return;
  direct_ = is_written_directly(path_);
  if (direct_ && existing == ExistingFile::resume) {
    throw Error("--resume: '{}' is no regular file, whose rows could be read", path_);
  }
  if (direct_) {
    fd_ = open_directly(path_);
    return;
  }
  if (open_existing(existing)) return;
  fd_ = open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd_ < 0) throw SystemError(errno, "creating '{}'", path_);
  made_ = true;
}

bool SweepFile::open_existing(ExistingFile existing) {
  struct stat info {};
  if (stat(path_.c_str(), &info) != 0) {
    if (errno == ENOENT) return false;
    throw SystemError(errno, "looking at '{}'", path_);
  }
  if (existing == ExistingFile::refuse && info.st_size > 0) {
    throw Error("'{}' exists: --resume adds the rows that it lacks, --overwrite replaces it",
                path_);
  }
  if (existing == ExistingFile::resume) read_rows();
  fd_ = open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd_ < 0) throw SystemError(errno, "opening '{}' to write to it", path_);
  emptied_ = existing != ExistingFile::overwrite;
  return true;
}

SweepFile::~SweepFile() {
  if (fd_ < 0) return;
  struct stat info {};
  if (made_ && fstat(fd_, &info) == 0 && info.st_size == 0) unlink(path_.c_str());
  close(fd_);
}

void SweepFile::read_rows() {
  JsonRows read = read_json_rows(path_);
  if (read.cut_off()) {
    fmt::print(stderr, "'{}': its last line was cut off and is dropped\n", path_);
    if (truncate(path_.c_str(), static_cast<off_t>(read.whole_bytes)) != 0) {
      throw SystemError(errno, "cutting '{}' to {} bytes", path_, read.whole_bytes);
    }
  }
  rows_ = std::move(read.rows);
}

bool SweepFile::has(const nlohmann::ordered_json& parameters) const {
  for (const nlohmann::ordered_json& row : rows_) {
    bool same = !row.contains("error");
    for (const auto& [name, value] : parameters.items()) {
      if (!same) break;
      const auto found = row.find(name);
      same = found == row.end() ? value.is_null() : *found == value;
    }
    if (same) return true;
  }
  return false;
}

std::string SweepFile::described() const {
  if (direct_) return fmt::format(" and in '{}'", path_);
  return fd_ < 0 ? "" : fmt::format(" and in '{}'; --resume measures the others", path_);
}

void SweepFile::append(const std::string& object) {
  if (fd_ >= 0) write_line(object + '\n');
  rows_.push_back(nlohmann::ordered_json::parse(object));
}

void SweepFile::write_line(const std::string& line) {
  if (!emptied_ && ftruncate(fd_, 0) != 0) throw SystemError(errno, "emptying '{}'", path_);
  emptied_ = true;
  if (direct_) std::fflush(stdout);  // stdout may be the same file
  struct stat before {};
  const bool known = !direct_ && fstat(fd_, &before) == 0;
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t put = write(fd_, line.data() + done, line.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const int error = errno;
      // Half a row is of no use. When it cannot be cut off here, --resume drops it.
      if (known && ftruncate(fd_, before.st_size) != 0) errno = 0;
      throw SystemError(error, "writing a row to '{}' (those before it are there)", path_);
    }
    done += static_cast<std::size_t>(put);
  }
}

std::vector<nlohmann::ordered_json> with_files(const SweepFiles& files,
                                               const std::function<void(SweepFile&)>& measure) {
  if (!files.html.empty()) check_output(files.html);
  SweepFile file(files.json, files.existing);
  const auto write_page = [&] {
    if (!files.html.empty() && !file.rows().empty()) write_report_page(files.html, file.rows());
  };
  try {
    measure(file);
  } catch (const WorkInterrupted&) {
    write_page();
    throw;
  }
  write_page();
  return file.rows();
}

}  // namespace farvec::measure
