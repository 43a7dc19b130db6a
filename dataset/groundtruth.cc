#include "dataset/groundtruth.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/error.h"
#include "base/input_file.h"
#include "base/output_file.h"
#include "dataset/hdf5_file.h"
#include "dataset/hdf5_matrix.h"
#include "dataset/vecs_file.h"
#include "dataset/vector_file.h"

namespace farvec::dataset {
namespace {

constexpr std::size_t kHeaderBytes = 8;

/// True for .ibin, and for .gt100, the name that big-ann-benchmarks gives to the same format with
/// 100 neighbours.
bool is_ibin(const std::string& suffix) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return suffix == ".ibin" || (suffix.size() > 3 && suffix.starts_with(".gt") &&
                               std::all_of(suffix.begin() + 3, suffix.end(), digit));
}

[[noreturn]] void refuse_suffix(const std::string& path) {
  throw Error(
      "'{}' has the unknown suffix '{}': ground truth is kept in .ibin, .gt100 (or another "
      "number), .ivecs or .hdf5",
      path, suffix_of(path));
}

GroundTruth read_ibin(const std::string& path) {
  const InputFile file(path);
  std::array<std::uint32_t, 2> header{};
  if (file.size() < kHeaderBytes) {
    throw Error("'{}' has {} bytes, less than the {} of a header: it is truncated", path,
                file.size(), kHeaderBytes);
  }
  file.read_at(0, header.data(), kHeaderBytes);
  const std::uint64_t cells = std::uint64_t{header[0]} * header[1];
  if (cells == 0) throw Error("'{}' holds {} queries of {} ids", path, header[0], header[1]);
  const std::uint64_t payload = file.size() - kHeaderBytes;
  const bool with_distances = payload % 8 == 0 && payload / 8 == cells;
  if (!with_distances && (payload % 4 != 0 || payload / 4 != cells)) {
    throw Error(
        "'{}' has {} bytes, its header ({} queries of {} ids) needs 8 bytes and 4 per id, or 8 per "
        "id with distances: it is truncated or not ground truth",
        path, file.size(), header[0], header[1]);
  }
  GroundTruth truth{header[0], header[1], {}, {}};
  truth.ids.resize(cells);
  file.read_at(kHeaderBytes, truth.ids.data(), cells * sizeof(NodeId));
  if (with_distances) {
    truth.distances.resize(cells);
    file.read_at(kHeaderBytes + cells * sizeof(NodeId), truth.distances.data(),
                 cells * sizeof(float));
  }
  return truth;
}

void write_ibin(const std::string& path, const GroundTruth& truth) {
  const std::size_t cells = truth.queries * truth.k;
  FARVEC_CHECK(truth.ids.size() == cells, "{} ids for {} cells", truth.ids.size(), cells);
  FARVEC_CHECK(truth.distances.empty() || truth.distances.size() == cells);
  const std::array<std::uint32_t, 2> header{static_cast<std::uint32_t>(truth.queries), truth.k};
  const std::size_t bytes = cells * sizeof(NodeId) + truth.distances.size() * sizeof(float);
  OutputFile file(path, kHeaderBytes + bytes);
  file.append(header.data(), kHeaderBytes);
  file.append(truth.ids.data(), cells * sizeof(NodeId));
  file.append(truth.distances.data(), truth.distances.size() * sizeof(float));
  file.commit();
}

}  // namespace

bool is_groundtruth_name(const std::string& path) {
  const std::string suffix = suffix_of(path);
  return is_ibin(suffix) || suffix == ".ivecs" ||
         (is_hdf5_name(path) && split_hdf5_path(path).name == "neighbors");
}

GroundTruth read_groundtruth(const std::string& path) {
  const std::string suffix = suffix_of(path);
  if (is_ibin(suffix)) return read_ibin(path);
  if (suffix == ".ivecs") return read_ivecs(path);
  if (is_hdf5_name(path)) return read_hdf5_groundtruth(path);
  refuse_suffix(path);
}

void check_groundtruth_output(const std::string& path) {
  const std::string suffix = suffix_of(path);
  if (!is_ibin(suffix) && suffix != ".ivecs") refuse_suffix(path);
  check_output(path);
}

void write_groundtruth(const std::string& path, const GroundTruth& truth) {
  const std::string suffix = suffix_of(path);
  if (is_ibin(suffix)) return write_ibin(path, truth);
  if (suffix == ".ivecs") return write_ivecs(path, truth);
  refuse_suffix(path);
}

}  // namespace farvec::dataset
