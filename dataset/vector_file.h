// Vector files of every format behind one reader and one writer, both streaming.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/types.h"

namespace farvec::dataset {

/// What a header says, already checked against the size of the file.
struct VectorFileInfo {
  std::string path;    ///< as given, with the ":name" of an HDF5 data set
  std::string format;  ///< "bin", "vecs", "npy", "hdf5" or "idx"
  std::uint64_t count = 0;
  std::uint32_t dimension = 0;
  ElementType type = ElementType::f32;
  std::uint64_t file_bytes = 0;
  std::string metric;  ///< HDF5 attribute "distance" as it stands there; else empty

  std::size_t row_bytes() const { return dimension * element_bytes(type); }
};

/// An open vector file. One thread at a time.
class VectorReader {
 public:
  virtual ~VectorReader() = default;

  const VectorFileInfo& info() const { return info_; }

  /// Copies rows [begin, begin + count) to `out`, packed, as they stand (values are not checked).
  /// Throws Error on a row that is not there and on a damaged one. Ascending calls are fastest;
  /// a compressed file starts again from its beginning when rows are asked for backwards.
  void read_rows(std::uint64_t begin, std::size_t count, std::byte* out);

 protected:
  explicit VectorReader(VectorFileInfo info) : info_(std::move(info)) {}
  virtual void do_read(std::uint64_t begin, std::size_t count, std::byte* out) = 0;

  VectorFileInfo info_;
};

/// Opens by suffix: .fbin .f16bin .u8bin .i8bin, .fvecs .bvecs, .npy, .hdf5 or .h5 (optionally
/// followed by ":train", ":test" or another data set), and IDX (.gz, -ubyte, .idx). Throws Error on
/// an unknown suffix, a damaged header, a size that does not fit the header, zero rows, or a
/// dimension outside 1 to 4096.
std::unique_ptr<VectorReader> open_vectors(const std::string& path);

}  // namespace farvec::dataset
