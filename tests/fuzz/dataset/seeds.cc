// Writes a small valid file of every format: FOLDER/<target>/seed<suffix>.
#include <fmt/format.h>
#include <zlib.h>

#include <cstddef>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "dataset/groundtruth.h"
#include "dataset/vector_file.h"

namespace {

using farvec::ElementType;

std::string seed_path(const std::filesystem::path& folder, const std::string& target,
                      const std::string& suffix) {
  const auto corpus = folder / ("dataset_" + target);
  std::filesystem::create_directories(corpus);
  return (corpus / ("seed" + suffix)).string();
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

void write_all(const std::filesystem::path& folder) {
  write_vectors(seed_path(folder, "bin_fuzz", ".fbin"), ElementType::f32);
  write_vectors(seed_path(folder, "vecs_fuzz", ".fvecs"), ElementType::f32);
  write_vectors(seed_path(folder, "npy_fuzz", ".npy"), ElementType::f32);
  write_vectors(seed_path(folder, "hdf5_by_hand", ".hdf5"), ElementType::f32);
  write_idx(folder);
  const farvec::dataset::GroundTruth truth{2, 2, {1, 2, 3, 4}, {0, 1, 0, 1}};
  farvec::dataset::write_groundtruth(seed_path(folder, "ibin_fuzz", ".ibin"), truth);
  farvec::dataset::write_groundtruth(seed_path(folder, "ivecs_fuzz", ".ivecs"),
                                     {2, 2, truth.ids, {}});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: {} FOLDER\n", argv[0]);
    return 2;
  }
  try {
    write_all(argv[1]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "dataset_seeds: error: {}\n", error.what());
    return 1;
  }
  return 0;
}
