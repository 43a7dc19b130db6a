// An Hdf5Matrix is a two-dimensional data set of an HDF5 file. HDF5 is used from one thread at a
// time.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace farvec::dataset {

/// Owns an HDF5 id and closes it with the function for its kind.
class Hdf5Handle {
 public:
  Hdf5Handle() = default;
  Hdf5Handle(hid_t id, herr_t (*closer)(hid_t)) : id_(id), close_(closer) {}
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }
  Hdf5Handle(Hdf5Handle&& other) noexcept
      : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }

  bool ok() const { return id_ >= 0; }
  hid_t get() const { return id_; }
  /// Closes now and says whether that worked (buffered writes may fail here).
  bool close() { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

/// An Hdf5Path has the two parts of "file.hdf5:name"; the name is "train" when there is none.
struct Hdf5Path {
  std::string file;
  std::string name;
};
Hdf5Path split_hdf5_path(const std::string& path);
/// Returns true for .hdf5 and .h5, with or without ":name".
bool is_hdf5_name(const std::string& path);

/// An Hdf5Matrix is an open data set. Its promised size is checked against the bytes stored for it.
class Hdf5Matrix {
 public:
  /// Throws Error when the file is not HDF5, has no such data set, or it is not two-dimensional.
  explicit Hdf5Matrix(const std::string& path);

  std::uint64_t rows() const { return rows_; }
  std::uint64_t columns() const { return columns_; }
  /// Returns the type of the elements in the file; owned by this object.
  hid_t stored_type() const { return type_.get(); }
  /// Returns the bytes that the elements occupy in the file.
  std::uint64_t stored_bytes() const { return stored_bytes_; }
  /// Says whether all its elements are stored, without compression.
  bool uncompressed() const { return uncompressed_; }
  /// Returns the file's attribute "distance", or "".
  std::string distance_attribute() const;

  /// Copies rows [begin, begin + count), converted to `memory_type`, to `out`.
  void read(std::uint64_t begin, std::size_t count, hid_t memory_type, void* out) const;

 private:
  std::string path_;
  Hdf5Handle file_;
  Hdf5Handle set_;
  Hdf5Handle type_;
  Hdf5Handle space_;
  std::uint64_t rows_ = 0;
  std::uint64_t columns_ = 0;
  std::uint64_t stored_bytes_ = 0;
  bool uncompressed_ = false;
};

/// Returns true when the file holds a data set of that name.
bool hdf5_has(const std::string& file, const std::string& name);

}  // namespace farvec::dataset
