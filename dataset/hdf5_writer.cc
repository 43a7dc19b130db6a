#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/output_file.h"
#include "dataset/hdf5_file.h"
#include "dataset/hdf5_matrix.h"

namespace farvec::dataset {
namespace {

constexpr std::size_t kChunkBytes = 1u << 20;

hid_t stored_type(ElementType type) {
  if (type == ElementType::u8) return H5T_STD_U8LE;
  return type == ElementType::i8 ? H5T_STD_I8LE : H5T_IEEE_F32LE;
}

/// The data set is chunked so that its number of rows can shrink at the end.
class Hdf5Writer final : public VectorWriter {
 public:
  Hdf5Writer(const std::string& path, const VectorShape& shape)
      : VectorWriter(shape),
        parts_(split_hdf5_path(path)),
        output_(parts_.file, shape.count * shape.row_bytes()) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    if (output_.partial_path().empty()) {
      throw Error("'{}' is no regular file: HDF5 writes to nothing else", parts_.file);
    }
    open_partial();
    create_set();
  }

 private:
  void open_partial() {
    const std::string& partial = output_.partial_path();
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_file_locking(access.get(), false, true);  // output_ has already locked the file
    if (!std::filesystem::exists(parts_.file)) {
      file_ = {H5Fcreate(partial.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose};
    } else {
      if (hdf5_has(parts_.file, parts_.name)) {
        throw Error("'{}' already has a data set '{}': remove the file or choose another name",
                    parts_.file, parts_.name);
      }
      copied_ = std::filesystem::last_write_time(parts_.file);
      std::error_code failed;
      std::filesystem::copy_file(parts_.file, partial,
                                 std::filesystem::copy_options::overwrite_existing, failed);
      if (failed) throw SystemError(failed.value(), "copying '{}' to '{}'", parts_.file, partial);
      file_ = {H5Fopen(partial.c_str(), H5F_ACC_RDWR, access.get()), H5Fclose};
    }
    if (!file_.ok()) throw Error("creating '{}': HDF5 refuses", partial);
  }

  void create_set() {
    const std::array<hsize_t, 2> dims{shape_.count, shape_.dimension};
    const std::size_t chunk_rows =
        std::min<std::uint64_t>(shape_.count, 1 + kChunkBytes / shape_.row_bytes());
    const std::array<hsize_t, 2> chunk{chunk_rows, shape_.dimension};
    const Hdf5Handle space(H5Screate_simple(2, dims.data(), nullptr), H5Sclose);
    const Hdf5Handle plist(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(plist.get(), 2, chunk.data());
    set_ = {H5Dcreate2(file_.get(), parts_.name.c_str(), stored_type(shape_.type), space.get(),
                       H5P_DEFAULT, plist.get(), H5P_DEFAULT),
            H5Dclose};
    if (!set_.ok()) {
      throw Error("creating data set '{}' in '{}': HDF5 refuses", parts_.name, parts_.file);
    }
  }

  void do_append(const std::byte* rows, std::size_t count) override {
    const std::array<hsize_t, 2> start{written_, 0};
    const std::array<hsize_t, 2> extent{count, shape_.dimension};
    const Hdf5Handle memory(H5Screate_simple(2, extent.data(), nullptr), H5Sclose);
    const Hdf5Handle space(H5Dget_space(set_.get()), H5Sclose);
    H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr);
    if (H5Dwrite(set_.get(), stored_type(shape_.type), memory.get(), space.get(), H5P_DEFAULT,
                 rows) < 0) {
      fail();
    }
    written_ += count;
  }

  void do_finish(std::uint64_t rows) override {
    const std::array<hsize_t, 2> dims{rows, shape_.dimension};
    if (rows != shape_.count && H5Dset_extent(set_.get(), dims.data()) < 0) fail();
    // Both are tried, because a set that stays open would keep the file open.
    const bool set_closed = set_.close();
    if (!file_.close() || !set_closed) fail();
    if (copied_ && *copied_ != std::filesystem::last_write_time(parts_.file)) {
      throw Error("'{}' was written by another process meanwhile and stays as it is: try again",
                  parts_.file);
    }
    output_.commit();
  }

  [[noreturn]] void fail() const {
    throw Error(
        "writing '{}': HDF5 failed after {} of {} rows; the data set needs {} bytes, is the "
        "disk full? (the partial file was removed)",
        parts_.file, written_, shape_.count, shape_.count * shape_.row_bytes());
  }

  Hdf5Path parts_;
  OutputFile output_;
  /// When the file was changed from which the existing sets were copied.
  std::optional<std::filesystem::file_time_type> copied_;
  Hdf5Handle file_;
  Hdf5Handle set_;
  std::uint64_t written_ = 0;
};

}  // namespace

std::unique_ptr<VectorWriter> create_hdf5(const std::string& path, const VectorShape& shape) {
  return std::make_unique<Hdf5Writer>(path, shape);
}

}  // namespace farvec::dataset
