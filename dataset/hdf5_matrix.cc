#include "dataset/hdf5_matrix.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/input_file.h"

namespace farvec::dataset {
namespace {

Hdf5Handle open_file(const std::string& file) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors are thrown, not printed
  const InputFile readable(file);
  Hdf5Handle handle(H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!handle.ok()) {
    throw Error("'{}' ({} bytes) is not a whole HDF5 file: fetch it again", file, readable.size());
  }
  return handle;
}

constexpr std::size_t kMaxText = 256;

/// `space` has one point.
std::string read_variable_string(hid_t attribute, hid_t type, hid_t space) {
  char* text = nullptr;
  if (H5Aread(attribute, type, &text) < 0 || text == nullptr) return "";
  const std::size_t length = strnlen(text, kMaxText + 1);
  std::string value(text, length > kMaxText ? 0 : length);
  H5Dvlen_reclaim(type, space, H5P_DEFAULT, &text);
  return value;
}

/// The text of an attribute; "" when it holds something else, several texts, or a long one.
std::string read_string(hid_t attribute) {
  const Hdf5Handle type(H5Aget_type(attribute), H5Tclose);
  const Hdf5Handle space(H5Aget_space(attribute), H5Sclose);
  if (!type.ok() || H5Tget_class(type.get()) != H5T_STRING) return "";
  // A read writes one text, or one pointer to a text, for every point of the space.
  if (!space.ok() || H5Sget_simple_extent_npoints(space.get()) != 1) return "";
  if (H5Tis_variable_str(type.get()) > 0) {
    return read_variable_string(attribute, type.get(), space.get());
  }
  if (H5Tget_size(type.get()) > kMaxText) return "";
  std::array<char, kMaxText + 1> text{};
  return H5Aread(attribute, type.get(), text.data()) < 0 ? "" : std::string(text.data());
}

herr_t refuse_link(const char*, const char*, const char*, const char*, unsigned*, hid_t, void*) {
  return -1;
}

/// Opens a data set that is in this very file: one that leads to another file could name a FIFO or
/// a device.
Hdf5Handle open_set(hid_t file, const Hdf5Path& parts) {
  const Hdf5Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  if (!access.ok() || H5Pset_elink_cb(access.get(), refuse_link, nullptr) < 0) {
    throw Error("opening '{}': no memory for HDF5", parts.file);
  }
  Hdf5Handle set(H5Dopen2(file, parts.name.c_str(), access.get()), H5Dclose);
  if (!set.ok()) {
    throw Error("'{}' has no data set '{}': try {}:train or {}:test", parts.file, parts.name,
                parts.file, parts.file);
  }
  return set;
}

/// The set's layout. Throws Error when its elements are in another file.
H5D_layout_t own_layout(hid_t set, const std::string& path) {
  const Hdf5Handle plist(H5Dget_create_plist(set), H5Pclose);
  const H5D_layout_t layout = plist.ok() ? H5Pget_layout(plist.get()) : H5D_LAYOUT_ERROR;
  if (layout == H5D_LAYOUT_ERROR) throw Error("'{}' says not how it is stored: damaged", path);
  if (layout == H5D_VIRTUAL || H5Pget_external_count(plist.get()) != 0) {
    throw Error("'{}' keeps its elements in another file: copy them into one with 'h5repack'",
                path);
  }
  return layout;
}

}  // namespace

bool is_hdf5_name(const std::string& path) {
  const std::string suffix = std::filesystem::path(split_hdf5_path(path).file).extension().string();
  return suffix == ".hdf5" || suffix == ".h5";
}

Hdf5Path split_hdf5_path(const std::string& path) {
  for (const std::string_view mark : {".hdf5:", ".h5:"}) {
    const std::size_t at = path.rfind(mark);
    if (at == std::string::npos) continue;
    const std::size_t colon = at + mark.size() - 1;
    return {path.substr(0, colon), path.substr(colon + 1)};
  }
  return {path, "train"};
}

bool hdf5_has(const std::string& file, const std::string& name) {
  const Hdf5Handle handle = open_file(file);
  return H5Lexists(handle.get(), name.c_str(), H5P_DEFAULT) > 0;
}

Hdf5Matrix::Hdf5Matrix(const std::string& path) : path_(path) {
  const Hdf5Path parts = split_hdf5_path(path);
  file_ = open_file(parts.file);
  set_ = open_set(file_.get(), parts);
  uncompressed_ = own_layout(set_.get(), path) != H5D_CHUNKED;
  type_ = Hdf5Handle(H5Dget_type(set_.get()), H5Tclose);
  space_ = Hdf5Handle(H5Dget_space(set_.get()), H5Sclose);
  std::array<hsize_t, 2> dims{};
  if (!space_.ok() || H5Sget_simple_extent_ndims(space_.get()) != 2 ||
      H5Sget_simple_extent_dims(space_.get(), dims.data(), nullptr) != 2) {
    throw Error("'{}' is not two-dimensional: it must be (rows, dimension)", path);
  }
  rows_ = dims[0];
  columns_ = dims[1];
  stored_bytes_ =
      std::min<std::uint64_t>(H5Dget_storage_size(set_.get()), InputFile(parts.file).size());
}

std::string Hdf5Matrix::distance_attribute() const {
  if (H5Aexists(file_.get(), "distance") <= 0) return "";
  const Hdf5Handle attribute(H5Aopen(file_.get(), "distance", H5P_DEFAULT), H5Aclose);
  return attribute.ok() ? read_string(attribute.get()) : "";
}

void Hdf5Matrix::read(std::uint64_t begin, std::size_t count, hid_t memory_type, void* out) const {
  const std::array<hsize_t, 2> start{begin, 0};
  const std::array<hsize_t, 2> extent{count, columns_};
  const Hdf5Handle memory(H5Screate_simple(2, extent.data(), nullptr), H5Sclose);
  const bool selected =
      memory.ok() && H5Sselect_hyperslab(space_.get(), H5S_SELECT_SET, start.data(), nullptr,
                                         extent.data(), nullptr) >= 0;
  if (!selected ||
      H5Dread(set_.get(), memory_type, memory.get(), space_.get(), H5P_DEFAULT, out) < 0) {
    throw Error("'{}': HDF5 cannot read rows {} to {}: the file is damaged or truncated", path_,
                begin, begin + count);
  }
}

}  // namespace farvec::dataset
