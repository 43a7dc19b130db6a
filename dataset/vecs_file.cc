#include "dataset/vecs_file.h"

#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/input_file.h"
#include "base/memory.h"
#include "base/output_file.h"
#include "dataset/shape.h"

namespace farvec::dataset {
namespace {

constexpr std::size_t kPrefixBytes = sizeof(std::uint32_t);

std::uint32_t first_dimension(const InputFile& file) {
  if (file.size() < kPrefixBytes) {
    throw Error("'{}' has {} bytes: it has no rows, or is truncated", file.path(), file.size());
  }
  std::uint32_t dimension = 0;
  file.read_at(0, &dimension, kPrefixBytes);
  return dimension;
}

std::uint64_t count_rows(const InputFile& file, std::size_t stride) {
  if (file.size() % stride != 0) {
    throw Error(
        "'{}' has {} bytes, which is not a whole number of rows of {} bytes (the first row's "
        "dimension): it is truncated after row {}, or of another format",
        file.path(), file.size(), stride, file.size() / stride);
  }
  return file.size() / stride;
}

/// Reads rows and removes the dimension from each.
class RowStripper {
 public:
  RowStripper(const InputFile& file, std::uint32_t dimension, std::size_t row_bytes)
      : file_(file), dimension_(dimension), row_bytes_(row_bytes) {}

  void read(std::uint64_t begin, std::size_t count, std::byte* out) {
    const std::size_t stride = kPrefixBytes + row_bytes_;
    raw_.resize(count * stride);
    file_.read_at(begin * stride, raw_.data(), raw_.size());
    for (std::size_t i = 0; i < count; ++i) {
      const std::byte* row = raw_.data() + i * stride;
      const auto dimension = load_unaligned<std::uint32_t>(row);
      if (dimension != dimension_) {
        throw Error("'{}': row {} at offset {} has dimension {}, the first has {}: it is damaged",
                    file_.path(), begin + i, (begin + i) * stride, dimension, dimension_);
      }
      std::memcpy(out + i * row_bytes_, row + kPrefixBytes, row_bytes_);
    }
  }

 private:
  const InputFile& file_;
  std::uint32_t dimension_;
  std::size_t row_bytes_;
  std::vector<std::byte> raw_;
};

class VecsReader final : public VectorReader {
 public:
  VecsReader(const std::string& path, ElementType type) : VectorReader({}), file_(path) {
    info_ = {path, "vecs", 1, first_dimension(file_), type, file_.size(), ""};
    check_shape(info_);
    info_.count = count_rows(file_, kPrefixBytes + info_.row_bytes());
    check_shape(info_);
  }

 private:
  void do_read(std::uint64_t begin, std::size_t count, std::byte* out) override {
    RowStripper(file_, info_.dimension, info_.row_bytes()).read(begin, count, out);
  }

  InputFile file_;
};

/// Puts the dimension before each row.
void append_prefixed(OutputFile& file, std::uint32_t dimension, std::size_t row_bytes,
                     std::span<const std::byte> rows) {
  const std::size_t stride = kPrefixBytes + row_bytes;
  const std::size_t count = rows.size() / row_bytes;
  std::vector<std::byte> raw(count * stride);
  for (std::size_t i = 0; i < count; ++i) {
    store_unaligned(raw.data() + i * stride, dimension);
    std::memcpy(raw.data() + i * stride + kPrefixBytes, rows.data() + i * row_bytes, row_bytes);
  }
  file.append(raw.data(), raw.size());
}

class VecsWriter final : public VectorWriter {
 public:
  VecsWriter(const std::string& path, const VectorShape& shape)
      : VectorWriter(shape), file_(path, shape.count * (kPrefixBytes + shape.row_bytes())) {}

 private:
  void do_append(const std::byte* rows, std::size_t count) override {
    append_prefixed(file_, shape_.dimension, shape_.row_bytes(),
                    {rows, count * shape_.row_bytes()});
  }
  void do_finish(std::uint64_t) override { file_.commit(); }

  OutputFile file_;
};

}  // namespace

std::unique_ptr<VectorReader> open_vecs(const std::string& path, ElementType type) {
  return std::make_unique<VecsReader>(path, type);
}

std::unique_ptr<VectorWriter> create_vecs(const std::string& path, const VectorShape& shape) {
  return std::make_unique<VecsWriter>(path, shape);
}

GroundTruth read_ivecs(const std::string& path) {
  const InputFile file(path);
  const std::uint32_t k = first_dimension(file);
  if (k == 0) throw Error("'{}' holds rows of 0 ids", path);
  const std::size_t row_bytes = std::size_t{k} * sizeof(NodeId);
  GroundTruth truth{count_rows(file, kPrefixBytes + row_bytes), k, {}, {}};
  truth.ids.resize(truth.queries * k);
  RowStripper(file, k, row_bytes)
      .read(0, truth.queries, reinterpret_cast<std::byte*>(truth.ids.data()));
  return truth;
}

void write_ivecs(const std::string& path, const GroundTruth& truth) {
  const std::size_t row_bytes = truth.k * sizeof(NodeId);
  OutputFile file(path, truth.queries * (kPrefixBytes + row_bytes));
  append_prefixed(file, truth.k, row_bytes, std::as_bytes(std::span(truth.ids)));
  file.commit();
}

}  // namespace farvec::dataset
