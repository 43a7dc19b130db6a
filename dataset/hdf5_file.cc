#include "dataset/hdf5_file.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "dataset/hdf5_matrix.h"
#include "dataset/packed_bits.h"
#include "dataset/shape.h"

namespace farvec::dataset {
namespace {

/// The number of ids that are read at a time, and of bools.
constexpr std::size_t kBlockIds = 1u << 16;
constexpr std::size_t kBlockBools = 1u << 20;

std::optional<ElementType> element_type(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  const std::size_t bytes = H5Tget_size(type);
  if (kind == H5T_FLOAT && (bytes == 4 || bytes == 8)) return ElementType::f32;
  // A bool of h5py is an enumeration of a byte.
  if (kind == H5T_ENUM && bytes == 1) return ElementType::b1;
  if (kind == H5T_INTEGER && bytes == 1) {
    return H5Tget_sign(type) == H5T_SGN_NONE ? ElementType::u8 : ElementType::i8;
  }
  return std::nullopt;
}

bool is_double(hid_t type) {
  return H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) == sizeof(double);
}

hid_t memory_type(ElementType type) {
  if (type == ElementType::u8) return H5T_NATIVE_UINT8;
  return type == ElementType::i8 ? H5T_NATIVE_INT8 : H5T_NATIVE_FLOAT;
}

std::uint32_t clamp_dimension(std::uint64_t columns) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(columns, std::numeric_limits<std::uint32_t>::max()));
}

/// An uncompressed data set must store all promised bytes, a chunked one at least a share of them.
void check_stored(const Hdf5Matrix& matrix, const VectorFileInfo& info) {
  const std::uint64_t promised = info.count * info.dimension * H5Tget_size(matrix.stored_type());
  if (matrix.uncompressed() && matrix.stored_bytes() < promised) {
    throw Error("'{}' promises {} bytes, but {} are stored: it is truncated or damaged", info.path,
                promised, matrix.stored_bytes());
  }
  check_compressed_payload(info, matrix.stored_bytes());
}

class Hdf5Reader final : public VectorReader {
 public:
  explicit Hdf5Reader(const std::string& path) : VectorReader({}), matrix_(path) {
    const auto type = element_type(matrix_.stored_type());
    if (!type) {
      throw Error(
          "'{}' holds elements that are neither f32, f64, u8, i8 nor bool: convert it first", path);
    }
    info_ = {path,
             "hdf5",
             matrix_.rows(),
             clamp_dimension(matrix_.columns()),
             *type,
             matrix_.stored_bytes(),
             matrix_.distance_attribute(),
             is_double(matrix_.stored_type())};
    check_shape(info_);
    check_stored(matrix_, info_);
  }

 private:
  void do_read(std::uint64_t begin, std::size_t count, std::byte* out) override {
    if (info_.type == ElementType::b1) return read_bits(begin, count, out);
    matrix_.read(begin, count, memory_type(info_.type), out);
  }

  void read_bits(std::uint64_t begin, std::size_t count, std::byte* out) {
    const std::size_t block = std::max<std::size_t>(1, kBlockBools / info_.dimension);
    for (std::size_t done = 0; done < count; done += block) {
      const std::size_t rows = std::min(block, count - done);
      bools_.resize(rows * info_.dimension);
      matrix_.read(begin + done, rows, matrix_.stored_type(), bools_.data());
      for (std::size_t i = 0; i < rows; ++i, out += info_.row_bytes()) {
        pack_bools(&bools_[i * info_.dimension], info_.dimension, out);
      }
    }
  }

  Hdf5Matrix matrix_;
  std::vector<std::byte> bools_;
};

/// Takes the size of neighbour lists, which is checked before memory is asked for.
GroundTruth truth_shape(const Hdf5Matrix& neighbors, const std::string& path) {
  if (neighbors.columns() == 0) throw Error("'{}': 'neighbors' holds 0 ids a row", path);
  VectorFileInfo info{path,
                      "hdf5",
                      neighbors.rows(),
                      clamp_dimension(neighbors.columns()),
                      ElementType::f32,
                      neighbors.stored_bytes(),
                      ""};
  check_shape(info);
  check_stored(neighbors, info);
  return {info.count, info.dimension, {}, {}};
}

/// Reads ids as 64-bit numbers and refuses those that do not fit into 32 bits, because HDF5 would
/// clamp them to ids of other vectors.
void read_ids(const Hdf5Matrix& neighbors, const std::string& path, GroundTruth& truth) {
  const std::size_t block = std::max<std::size_t>(1, kBlockIds / truth.k);
  std::vector<std::int64_t> wide(block * truth.k);
  truth.ids.reserve(truth.queries * truth.k);
  for (std::size_t begin = 0; begin < truth.queries; begin += block) {
    const std::size_t rows = std::min(block, truth.queries - begin);
    neighbors.read(begin, rows, H5T_NATIVE_INT64, wide.data());
    for (std::size_t i = 0; i < rows * truth.k; ++i) {
      if (wide[i] < 0 || wide[i] > std::int64_t{kInvalidNode}) {
        throw Error("'{}': query {} has the neighbour {}: ids are 0 to {}", path,
                    begin + i / truth.k, wide[i], kInvalidNode - 1);
      }
      truth.ids.push_back(static_cast<NodeId>(wide[i]));
    }
  }
}

/// Some files have the share of bits that differ, others their number; both have integers where
/// nothing differs.
void to_numbers_of_bits(const std::string& file, std::vector<float>& distances) {
  const auto is_share = [](float distance) { return distance != std::floor(distance); };
  if (std::none_of(distances.begin(), distances.end(), is_share)) return;
  const auto dimension = static_cast<float>(Hdf5Matrix(file + ":train").columns());
  for (float& distance : distances) distance = std::round(distance * dimension);
}

void to_our_convention(const std::string& metric, const std::string& path,
                       std::vector<float>& distances) {
  if (metric == "angular" || metric == "jaccard") return;
  if (metric == "hamming") return to_numbers_of_bits(path, distances);
  if (metric != "euclidean") {
    throw Error(
        "'{}' holds distances of the kind '{}': only euclidean, angular, hamming and jaccard are "
        "known",
        path, metric);
  }
  for (float& distance : distances) distance *= distance;
}

}  // namespace

std::unique_ptr<VectorReader> open_hdf5(const std::string& path) {
  return std::make_unique<Hdf5Reader>(path);
}

GroundTruth read_hdf5_groundtruth(const std::string& path) {
  const std::string file = split_hdf5_path(path).file;
  const Hdf5Matrix neighbors(file + ":neighbors");
  if (H5Tget_class(neighbors.stored_type()) != H5T_INTEGER) {
    throw Error("'{}': 'neighbors' does not hold integers", file);
  }
  GroundTruth truth = truth_shape(neighbors, path);
  read_ids(neighbors, file, truth);
  if (!hdf5_has(file, "distances")) return truth;
  const Hdf5Matrix distances(file + ":distances");
  if (distances.rows() != truth.queries || distances.columns() != truth.k) {
    throw Error("'{}': 'distances' is {} x {}, 'neighbors' {} x {}", file, distances.rows(),
                distances.columns(), truth.queries, truth.k);
  }
  if (H5Tget_class(distances.stored_type()) != H5T_FLOAT) {
    throw Error("'{}': 'distances' does not hold floats", file);
  }
  truth.distances.resize(truth.ids.size());
  distances.read(0, truth.queries, H5T_NATIVE_FLOAT, truth.distances.data());
  to_our_convention(distances.distance_attribute(), file, truth.distances);
  return truth;
}

}  // namespace farvec::dataset
