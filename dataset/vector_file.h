// A VectorReader reads and a VectorWriter writes vector files of every format; both stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/types.h"

namespace farvec::dataset {

/// A VectorFileInfo has the facts of a header, already checked against the size of the file.
struct VectorFileInfo {
  std::string path;    ///< the given path, with the ":name" of an HDF5 data set
  std::string format;  ///< "bin", "vecs", "npy", "hdf5" or "idx"
  std::uint64_t count = 0;
  std::uint32_t dimension = 0;
  ElementType type = ElementType::f32;
  std::uint64_t file_bytes = 0;
  std::string metric;    ///< HDF5 attribute "distance", unchanged; else empty
  bool rounded = false;  ///< the file holds float64, which is read as f32

  std::size_t row_bytes() const { return packed_bytes(type, dimension); }
};

/// A VectorReader is an open vector file. One thread at a time may use it.
class VectorReader {
 public:
  virtual ~VectorReader() = default;

  const VectorFileInfo& info() const { return info_; }

  /// Copies rows [begin, begin + count) to `out`, packed and unchanged (values are not checked).
  /// Throws Error on a missing row and on a damaged one. Ascending calls are fastest; a compressed
  /// file starts again from its beginning when rows are asked for backwards.
  void read_rows(std::uint64_t begin, std::size_t count, std::byte* out);

 protected:
  explicit VectorReader(VectorFileInfo info) : info_(std::move(info)) {}
  virtual void do_read(std::uint64_t begin, std::size_t count, std::byte* out) = 0;

  VectorFileInfo info_;
};

/// Describes the file to write. `count` may turn out smaller, never larger.
struct VectorShape {
  std::uint64_t count = 0;
  std::uint32_t dimension = 0;
  ElementType type = ElementType::f32;

  std::size_t row_bytes() const { return packed_bytes(type, dimension); }
};

/// A VectorWriter is a vector file that is being written; it appears under its name in finish().
/// Destroying the writer before that removes what was written. One thread at a time may use it.
class VectorWriter {
 public:
  virtual ~VectorWriter() = default;

  const VectorShape& shape() const { return shape_; }

  /// Appends `count` packed rows. Throws SystemError when the disk is full, with the bytes that the
  /// whole file needs.
  void append(const std::byte* rows, std::size_t count);
  /// Writes the final header, syncs and renames. Returns the number of rows; throws Error when
  /// there are none.
  std::uint64_t finish();

 protected:
  explicit VectorWriter(const VectorShape& shape) : shape_(shape) {}
  virtual void do_append(const std::byte* rows, std::size_t count) = 0;
  virtual void do_finish(std::uint64_t rows) = 0;

  VectorShape shape_;

 private:
  std::uint64_t rows_ = 0;
};

/// Opens a file by its suffix: .fbin .f16bin .u8bin .i8bin .b1bin, .fvecs .bvecs, .npy, .hdf5 or
/// .h5 (optionally followed by ":train", ":test" or another data set), and IDX (.gz, -ubyte, .idx).
/// Throws Error on an unknown suffix, a damaged header, a size that does not fit the header, zero
/// rows, or a dimension outside 1 to max_dimension().
std::unique_ptr<VectorReader> open_vectors(const std::string& path);

/// Creates a file by its suffix, in every format that open_vectors() reads but IDX. An existing
/// HDF5 file gets one more data set. Throws Error on a shape outside the limits and on an element
/// type that the format cannot hold.
std::unique_ptr<VectorWriter> create_vectors(const std::string& path, const VectorShape& shape);

/// Returns the suffix of a name: ".fbin" for "base.fbin"; empty when there is none.
std::string suffix_of(const std::string& path);

/// Returns the element type that a suffix stands for, or nothing when the format holds several
/// (.npy, .hdf5). Throws Error on an unknown suffix.
std::optional<ElementType> type_of_suffix(const std::string& path);

}  // namespace farvec::dataset
