#include "dataset/mapped_vectors.h"

#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/input_file.h"
#include "base/row_fault.h"
#include "dataset/finite.h"

namespace farvec::dataset {
namespace {

void* map_file(const std::string& path, std::size_t bytes) {
  const InputFile file(path);
  void* const mapping = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (mapping == MAP_FAILED) throw SystemError(errno, "mapping {} bytes of '{}'", bytes, path);
  return mapping;
}

bool is_packed(const VectorFileInfo& info) {
  return info.format == "bin" || info.format == "npy";
}

}  // namespace

bool MappedVectors::can_map(const std::string& path) {
  return is_packed(open_vectors(path)->info());
}

MappedVectors::MappedVectors(const std::string& path, Values values, std::optional<Metric> metric) {
  const VectorFileInfo info = open_vectors(path)->info();
  if (!is_packed(info)) {
    throw Error(
        "'{}' cannot stay in its file: that takes .fbin, .f16bin, .u8bin, .i8bin, .b1bin or .npy; "
        "'farvec dataset convert' makes one",
        path);
  }
  bytes_ = info.file_bytes;
  mapping_ = map_file(path, bytes_);
  // The rows are at the end of the file.
  const std::size_t header_bytes = bytes_ - info.count * info.row_bytes();
  view_ = packed_view(static_cast<const std::byte*>(mapping_) + header_bytes, info.count,
                      info.dimension, info.type);
  if (values == Values::any) return;
  if (info.type == ElementType::u8 || info.type == ElementType::i8) return;
  const auto faulty = find_faulty_row(view_, metric);
  if (!faulty) return;
  munmap(mapping_, bytes_);
  if (faulty->fault != RowFault::not_finite) {
    throw Error("'{}': row {} {}", path, faulty->row, to_string(faulty->fault));
  }
  throw Error(
      "'{}': row {} has NaN or infinite values: leave such rows out with 'farvec dataset "
      "convert'",
      path, faulty->row);
}

MappedVectors::~MappedVectors() {
  munmap(mapping_, bytes_);
}

}  // namespace farvec::dataset
