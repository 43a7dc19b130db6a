#include "measure/bench/test_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/random.h"

namespace farvec::measure {
namespace {

constexpr std::size_t kChunkBytes = 4u << 20;

void check_room(const std::string& folder, std::uint64_t bytes) {
  struct statvfs info {};
  if (statvfs(folder.c_str(), &info) != 0) {
    throw SystemError(errno, "asking for the room in '{}'", folder);
  }
  const std::uint64_t available = std::uint64_t{info.f_bavail} * info.f_frsize;
  if (bytes > available) {
    throw Error("a test file of {} bytes in '{}': {} bytes are free there; give less with --bytes",
                bytes, folder, available);
  }
}

void write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw SystemError(errno, "write");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

}  // namespace

TestFile::TestFile(std::string folder, std::uint64_t bytes, bool quiet)
    : folder_(std::move(folder)) {
  check_room(folder_, bytes);
  create();
  if (!quiet) {
    fmt::print(stderr, "writing a test file of {} MB in '{}', which is gone when this ends\n",
               (bytes + 999'999) / 1'000'000, folder_);
  }
  try {
    fill(bytes, quiet);
  } catch (const SystemError& error) {
    close(descriptor_);
    throw SystemError(error.code, "writing a test file of {} bytes in '{}'", bytes, folder_);
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

TestFile::~TestFile() {
  close(descriptor_);
}

void TestFile::create() {
  descriptor_ = open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor_ >= 0) return;
  // Not every file system has files without a name; where it has not, the file has a name for a
  // moment.
  std::string name = folder_ + "/farvec-bench-XXXXXX";
  descriptor_ = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) throw SystemError(errno, "making a test file in '{}'", folder_);
  unlink(name.c_str());
}

void TestFile::fill(std::uint64_t bytes, bool quiet) {
  const int flags = fcntl(descriptor_, F_GETFL);
  (void)fcntl(descriptor_, F_SETFL, flags | O_DIRECT);  // where it is refused, the cache will do
  HugeBuffer chunk(kChunkBytes);
  Random random(bytes);
  Progress progress("writing the test file", bytes, quiet);
  for (std::uint64_t done = 0; done < bytes;) {
    for (std::size_t at = 0; at < kChunkBytes; at += sizeof(std::uint64_t)) {
      store_unaligned(chunk.data() + at, random.next());
    }
    const std::size_t count = std::min<std::uint64_t>(kChunkBytes, bytes - done);
    if (count < kChunkBytes) (void)fcntl(descriptor_, F_SETFL, flags);  // maybe part of a block
    write_all(descriptor_, chunk.span().first(count));
    done += count;
    progress.advance(count);
  }
  if (fdatasync(descriptor_) != 0) throw SystemError(errno, "fdatasync");
}

std::string TestFile::path() const {
  return fmt::format("/proc/{}/fd/{}", getpid(), descriptor_);
}

}  // namespace farvec::measure
