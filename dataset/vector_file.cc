#include "dataset/vector_file.h"

#include <filesystem>

#include "base/check.h"
#include "base/error.h"
#include "dataset/bin_file.h"
#include "dataset/hdf5_file.h"
#include "dataset/hdf5_matrix.h"
#include "dataset/idx_file.h"
#include "dataset/npy_file.h"
#include "dataset/shape.h"
#include "dataset/vecs_file.h"

namespace farvec::dataset {
namespace {

constexpr const char* kSuffixes =
    ".fbin .f16bin .u8bin .i8bin .b1bin .fvecs .bvecs .npy .hdf5 .h5 (and read from IDX in .gz)";

}  // namespace

std::string suffix_of(const std::string& path) {
  return std::filesystem::path(path).extension().string();
}

void VectorReader::read_rows(std::uint64_t begin, std::size_t count, std::byte* out) {
  if (begin > info_.count || count > info_.count - begin) {
    throw Error("'{}' has {} rows, rows {} to {} were asked for", info_.path, info_.count, begin,
                begin + count);
  }
  if (count > 0) do_read(begin, count, out);
}

void VectorWriter::append(const std::byte* rows, std::size_t count) {
  FARVEC_CHECK(count <= shape_.count - rows_, "more rows than announced");
  if (count > 0) do_append(rows, count);
  rows_ += count;
}

std::uint64_t VectorWriter::finish() {
  if (rows_ == 0) throw Error("no row is left to write: the output was not created");
  do_finish(rows_);
  return rows_;
}

std::optional<ElementType> type_of_suffix(const std::string& path) {
  if (is_hdf5_name(path)) return std::nullopt;
  const std::string suffix = suffix_of(path);
  if (suffix == ".npy") return std::nullopt;
  if (suffix == ".fvecs") return ElementType::f32;
  if (suffix == ".bvecs") return ElementType::u8;
  if (const auto type = bin_type(suffix)) return type;
  throw Error("'{}' has the unknown suffix '{}': vectors are kept in {}", path, suffix, kSuffixes);
}

std::unique_ptr<VectorReader> open_vectors(const std::string& path) {
  if (is_hdf5_name(path)) return open_hdf5(path);
  if (is_idx_name(path)) return open_idx(path);
  const std::string suffix = suffix_of(path);
  if (suffix == ".npy") return open_npy(path);
  const ElementType type = *type_of_suffix(path);
  return suffix.ends_with("vecs") ? open_vecs(path, type) : open_bin(path, type);
}

std::unique_ptr<VectorWriter> create_vectors(const std::string& path, const VectorShape& shape) {
  const auto type = type_of_suffix(path);
  check_shape({path, "vector", shape.count, shape.dimension, shape.type, 0, ""});
  const bool hdf5 = is_hdf5_name(path);
  if (!type && shape.type == ElementType::b1) {
    throw Error("'{}' cannot hold bits (b1): choose .b1bin, or write 0 and 1 with --type u8", path);
  }
  if ((type && *type != shape.type) || (hdf5 && shape.type == ElementType::f16)) {
    throw Error("'{}' cannot hold {}: choose another suffix or convert the elements with --type",
                path, to_string(shape.type));
  }
  if (hdf5) return create_hdf5(path, shape);
  const std::string suffix = suffix_of(path);
  if (suffix == ".npy") return create_npy(path, shape);
  return suffix.ends_with("vecs") ? create_vecs(path, shape) : create_bin(path, shape);
}

}  // namespace farvec::dataset
