#include "dataset/mapped_vectors.h"

#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/input_file.h"
#include "dataset/bin_file.h"
#include "dataset/finite.h"

namespace farvec::dataset {
namespace {

void* map_file(const std::string& path, std::size_t bytes) {
  const InputFile file(path);
  void* const mapping = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (mapping == MAP_FAILED) throw SystemError(errno, "mapping {} bytes of '{}'", bytes, path);
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
  view_ = packed_view(static_cast<const std::byte*>(mapping_) + kBinHeaderBytes, info.count,
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
