// Files that HDF5 itself has written, with whatever shapes, types and attributes the bytes choose.
// HDF5 is not made for hostile bytes; what it parses well our reader must take or refuse.
#include <hdf5.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "dataset/hdf5_matrix.h"
#include "tests/fuzz/dataset/targets.h"

namespace farvec::fuzz {
namespace {

using dataset::Hdf5Handle;

/// The fuzzer's bytes one after the other; zeros after the last.
class Choices {
 public:
  Choices(const std::uint8_t* data, std::size_t size) : bytes_(data, size) {}

  unsigned next(unsigned choices = 256) {
    if (bytes_.empty()) return 0;
    const unsigned byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte % choices;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

/// No points, one, or an array of up to three dimensions.
Hdf5Handle make_space(Choices& choices, unsigned most) {
  const unsigned rank = choices.next(5);
  if (rank == 4) return {H5Screate(H5S_NULL), H5Sclose};
  std::array<hsize_t, 3> dims{};
  for (unsigned i = 0; i < rank; ++i) dims[i] = choices.next(most);
  if (rank == 0) return {H5Screate(H5S_SCALAR), H5Sclose};
  return {H5Screate_simple(static_cast<int>(rank), dims.data(), nullptr), H5Sclose};
}

Hdf5Handle make_type(Choices& choices) {
  const std::array numbers{H5T_IEEE_F32LE, H5T_STD_U8LE,  H5T_IEEE_F64LE, H5T_STD_I8BE,
                           H5T_STD_I32LE,  H5T_STD_U64BE, H5T_IEEE_F32BE};
  const unsigned kind = choices.next(4);
  if (kind == 0) return {H5Tcopy(numbers[choices.next(numbers.size())]), H5Tclose};
  if (kind == 1) return {H5Tvlen_create(H5T_NATIVE_CHAR), H5Tclose};
  Hdf5Handle text(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(text.get(), kind == 2 ? H5T_VARIABLE : 1 + 3 * choices.next());
  H5Tset_cset(text.get(), choices.next(2) == 0 ? H5T_CSET_ASCII : H5T_CSET_UTF8);
  H5Tset_strpad(text.get(), static_cast<H5T_str_t>(choices.next(3)));
  return text;
}

/// Elements of `type`, and what those that are pointers point to.
struct Elements {
  Elements(Choices& choices, hid_t type, std::size_t count) : texts(count) {
    const bool is_text = H5Tis_variable_str(type) > 0;
    bytes.resize(count * H5Tget_size(type));
    for (std::size_t i = 0; i < count; ++i) {
      texts[i].assign(choices.next(2) == 0 ? choices.next(20) : 5 * choices.next(), 'x');
      char* const pointer = texts[i].data();
      const hvl_t run{texts[i].size(), pointer};
      if (is_text) std::memcpy(&bytes[i * sizeof(pointer)], &pointer, sizeof(pointer));
      if (H5Tget_class(type) == H5T_VLEN) std::memcpy(&bytes[i * sizeof(run)], &run, sizeof(run));
    }
    if (is_text || H5Tget_class(type) == H5T_VLEN) return;
    for (char& byte : bytes) byte = static_cast<char>(choices.next());
  }

  std::vector<std::string> texts;
  std::vector<char> bytes;
};

std::size_t points(const Hdf5Handle& space) {
  return static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get()));
}

void add_attribute(Choices& choices, hid_t file) {
  const Hdf5Handle type = make_type(choices);
  const Hdf5Handle space = make_space(choices, 201);
  constexpr std::size_t kMostPoints = 1000;
  if (points(space) > kMostPoints) return;
  const Hdf5Handle attribute(
      H5Acreate2(file, "distance", type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const Elements elements(choices, type.get(), points(space));
  if (attribute.ok() && !elements.bytes.empty()) {
    H5Awrite(attribute.get(), type.get(), elements.bytes.data());
  }
}

/// Some are created and not written: they promise more than the file has.
void add_set(Choices& choices, hid_t file, const char* name) {
  const Hdf5Handle space = make_space(choices, 9);
  const Hdf5Handle type = make_type(choices);
  const Hdf5Handle plist(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const auto layout = static_cast<H5D_layout_t>(choices.next(3));
  H5Pset_layout(plist.get(), layout);
  const std::array<hsize_t, 3> chunk{2, 3, 1};
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (layout == H5D_CHUNKED && rank > 0) H5Pset_chunk(plist.get(), rank, chunk.data());
  if (layout == H5D_CHUNKED && choices.next(2) == 1) H5Pset_deflate(plist.get(), 1);
  const Hdf5Handle set(
      H5Dcreate2(file, name, type.get(), space.get(), H5P_DEFAULT, plist.get(), H5P_DEFAULT),
      H5Dclose);
  if (!set.ok() || choices.next(4) == 3) return;
  const Elements elements(choices, type.get(), points(space));
  if (!elements.bytes.empty()) {
    H5Dwrite(set.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, elements.bytes.data());
  }
}

}  // namespace
}  // namespace farvec::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace farvec;
  static const fuzz::FuzzFile file(".hdf5");
  const std::string& path = file.write(data, 0);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  fuzz::Choices choices(data, size);
  {
    const dataset::Hdf5Handle made(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                                   H5Fclose);
    fuzz::add_attribute(choices, made.get());
    for (const char* name : {"train", "neighbors", "distances"}) {
      fuzz::add_set(choices, made.get(), name);
    }
  }
  fuzz::expect_error_at_most([&] { (void)dataset::load(path, {.allow_nonfinite = true}); });
  fuzz::expect_error_at_most([&] { (void)dataset::read_groundtruth(path); });
  return 0;
}
