#include "dataset/mapped_vectors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "dataset/finite.h"

namespace farvec::dataset {
namespace {

constexpr std::size_t kHeaderBytes = 8;

void* map_file(const std::string& path, std::size_t bytes) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw SystemError(errno, "opening '{}' for reading", path);
  void* const mapping = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  const int error = errno;
  close(fd);
  if (mapping == MAP_FAILED) throw SystemError(error, "mapping {} bytes of '{}'", bytes, path);
  return mapping;
}

}  // namespace

MappedVectors::MappedVectors(const std::string& path) {
  const VectorFileInfo info = open_vectors(path)->info();
  if (info.format != "bin") {
    throw Error(
        "'{}' cannot stay in its file: that takes .fbin, .f16bin, .u8bin or .i8bin; "
        "'farvec dataset convert' makes one",
        path);
  }
  bytes_ = info.file_bytes;
  mapping_ = map_file(path, bytes_);
  view_ = packed_view(static_cast<const std::byte*>(mapping_) + kHeaderBytes, info.count,
                      info.dimension, info.type);
  if (info.type != ElementType::f32 && info.type != ElementType::f16) return;
  for (std::size_t row = 0; row < view_.count; ++row) {
    if (is_finite_row(view_.row(row), info.type, info.dimension)) continue;
    munmap(mapping_, bytes_);
    throw Error(
        "'{}': row {} has NaN or infinite values: leave such rows out with 'farvec dataset "
        "convert'",
        path, row);
  }
}

MappedVectors::~MappedVectors() {
  munmap(mapping_, bytes_);
}

}  // namespace farvec::dataset
