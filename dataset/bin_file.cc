#include "dataset/bin_file.h"

#include <array>

#include "base/error.h"
#include "base/input_file.h"
#include "base/output_file.h"
#include "dataset/shape.h"

namespace farvec::dataset {
namespace {

class BinReader final : public VectorReader {
 public:
  BinReader(const std::string& path, ElementType type) : VectorReader({}), file_(path) {
    std::array<std::uint32_t, 2> header{};
    if (file_.size() < kBinHeaderBytes) {
      throw Error("'{}' has {} bytes, less than the {} of a header: it is truncated", path,
                  file_.size(), kBinHeaderBytes);
    }
    file_.read_at(0, header.data(), kBinHeaderBytes);
    info_ = {path, "bin", header[0], header[1], type, file_.size(), ""};
    check_shape(info_);
    check_payload(info_, kBinHeaderBytes);
  }

 private:
  void do_read(std::uint64_t begin, std::size_t count, std::byte* out) override {
    file_.read_at(kBinHeaderBytes + begin * info_.row_bytes(), out, count * info_.row_bytes());
  }

  InputFile file_;
};

class BinWriter final : public VectorWriter {
 public:
  BinWriter(const std::string& path, const VectorShape& shape)
      : VectorWriter(shape), file_(path, kBinHeaderBytes + shape.count * shape.row_bytes()) {
    file_.append(header(shape.count).data(), kBinHeaderBytes);
  }

 private:
  std::array<std::uint32_t, 2> header(std::uint64_t rows) const {
    return {static_cast<std::uint32_t>(rows), shape_.dimension};
  }
  void do_append(const std::byte* rows, std::size_t count) override {
    file_.append(rows, count * shape_.row_bytes());
  }
  void do_finish(std::uint64_t rows) override {
    if (rows != shape_.count) file_.overwrite(0, header(rows).data(), kBinHeaderBytes);
    file_.commit();
  }

  OutputFile file_;
};

}  // namespace

std::optional<ElementType> bin_type(std::string_view suffix) {
  if (suffix == ".fbin") return ElementType::f32;
  if (suffix == ".f16bin") return ElementType::f16;
  if (suffix == ".u8bin") return ElementType::u8;
  if (suffix == ".i8bin") return ElementType::i8;
  if (suffix == ".b1bin") return ElementType::b1;
  return std::nullopt;
}

std::unique_ptr<VectorReader> open_bin(const std::string& path, ElementType type) {
  return std::make_unique<BinReader>(path, type);
}

std::unique_ptr<VectorWriter> create_bin(const std::string& path, const VectorShape& shape) {
  return std::make_unique<BinWriter>(path, shape);
}

}  // namespace farvec::dataset
