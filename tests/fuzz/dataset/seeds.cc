// Writes a small valid file of every format: FOLDER/<target>/seed<suffix>.
#include <zlib.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "dataset/groundtruth.h"
#include "dataset/hdf5_matrix.h"
#include "dataset/vector_file.h"
#include "tests/fuzz/seed_files.h"

namespace {

using farvec::ElementType;
using farvec::dataset::Hdf5Handle;

std::string seed_path(const std::filesystem::path& folder, const std::string& target,
                      const std::string& suffix) {
  return farvec::fuzz::seed_path(folder, "dataset_" + target, "seed" + suffix);
}

void write_vectors(const std::string& path, ElementType type) {
  const farvec::dataset::VectorShape shape{3, 4, type};
  const std::vector<std::byte> rows(shape.count * shape.row_bytes(), std::byte{1});
  std::filesystem::remove(path);
  const auto writer = farvec::dataset::create_vectors(path, shape);
  writer->append(rows.data(), shape.count);
  writer->finish();
}

void write_idx(const std::filesystem::path& folder) {
  std::string text{'\0', '\0', '\x08', '\2', '\0', '\0', '\0', '\3', '\0', '\0', '\0', '\4'};
  text.append(12, '\1');
  const gzFile file = gzopen(seed_path(folder, "idx_fuzz", ".gz").c_str(), "wb");
  if (file == nullptr) throw farvec::Error("cannot write the seed of idx_fuzz");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
}

/// Gives the file an attribute "distance" of `count` texts, which may be variable in length.
void add_metrics(const std::string& path, bool variable, hsize_t count) {
  const Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
  const Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), variable ? H5T_VARIABLE : 8);
  const Hdf5Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const Hdf5Handle attribute(
      H5Acreate2(file.get(), "distance", type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  const std::vector<const char*> pointers(count, "angular");
  const std::vector<char> fixed(count * 8, 'a');
  const void* const texts =
      variable ? static_cast<const void*>(pointers.data()) : static_cast<const void*>(fixed.data());
  if (H5Awrite(attribute.get(), type.get(), texts) < 0) {
    throw farvec::Error("cannot write the attribute of '{}'", path);
  }
}

/// Without an attribute, with one text, and with arrays of them.
void write_hdf5(const std::filesystem::path& folder) {
  write_vectors(seed_path(folder, "hdf5_by_hand", ".hdf5"), ElementType::f32);
  for (const bool variable : {false, true}) {
    for (const hsize_t count : {1, 2, 200}) {
      const auto path = seed_path(folder, "hdf5_by_hand",
                                  fmt::format("_{}_{}.hdf5", variable ? "any" : "fixed", count));
      write_vectors(path, ElementType::u8);
      add_metrics(path, variable, count);
    }
  }
}

/// The bytes choose what tests/fuzz/dataset/hdf5_fuzz.cc builds: an attribute's type (variable
/// text, then fixed text, with its length, alphabet and padding), its space (one dimension) and its
/// texts.
void write_hdf5_choices(const std::filesystem::path& folder) {
  for (const int count : {1, 2, 200}) {
    const std::string variable{'\2', '\0', '\0', '\1', static_cast<char>(count)};
    const std::string fixed{'\3', '\3', '\0', '\0', '\1', static_cast<char>(count)};
    // A set of 4 x 4 floats, contiguous, then nothing but zeros.
    const std::string set{'\2', '\4', '\4', '\0', '\0', '\1'};
    for (const bool any : {false, true}) {
      const std::string texts(static_cast<std::size_t>(count) * (any ? 2 : 12), '\4');
      const std::string choices = (any ? variable : fixed) + texts + set;
      farvec::fuzz::write_seed(seed_path(folder, "hdf5_fuzz", fmt::format("_{}_{}", any, count)),
                               std::as_bytes(std::span(choices)));
    }
  }
}

void write_all(const std::filesystem::path& folder) {
  write_vectors(seed_path(folder, "bin_fuzz", ".fbin"), ElementType::f32);
  write_vectors(seed_path(folder, "vecs_fuzz", ".fvecs"), ElementType::f32);
  write_vectors(seed_path(folder, "npy_fuzz", ".npy"), ElementType::f32);
  write_hdf5(folder);
  write_hdf5_choices(folder);
  write_idx(folder);
  const farvec::dataset::GroundTruth truth{2, 2, {1, 2, 3, 4}, {0, 1, 0, 1}};
  farvec::dataset::write_groundtruth(seed_path(folder, "ibin_fuzz", ".ibin"), truth);
  farvec::dataset::write_groundtruth(seed_path(folder, "ivecs_fuzz", ".ivecs"),
                                     {2, 2, truth.ids, {}});
}

}  // namespace

int main(int argc, char** argv) {
  return farvec::fuzz::write_seeds(argc, argv, write_all);
}
