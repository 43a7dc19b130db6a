#include "dataset/npy_file.h"

#include <algorithm>
#include <limits>

#include "base/input_file.h"
#include "base/output_file.h"
#include "dataset/npy_header.h"
#include "dataset/shape.h"

namespace farvec::dataset {
namespace {

class NpyReader final : public VectorReader {
 public:
  explicit NpyReader(const std::string& path) : VectorReader({}), file_(path) {
    const NpyText text = read_npy_text(file_);
    data_offset_ = text.end;
    const NpyShape shape = parse_npy_dictionary(text.dictionary, path);
    // A number that does not fit 32 bits is far outside the limits anyway.
    const auto dimension = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(shape.columns, std::numeric_limits<std::uint32_t>::max()));
    info_ = {path, "npy", shape.rows, dimension, shape.type, file_.size(), ""};
    check_shape(info_);
    check_payload(info_, data_offset_);
  }

 private:
  void do_read(std::uint64_t begin, std::size_t count, std::byte* out) override {
    file_.read_at(data_offset_ + begin * info_.row_bytes(), out, count * info_.row_bytes());
  }

  InputFile file_;
  std::uint64_t data_offset_ = 0;
};

class NpyWriter final : public VectorWriter {
 public:
  NpyWriter(const std::string& path, const VectorShape& shape)
      : VectorWriter(shape), file_(path, kNpyHeaderBytes + shape.count * shape.row_bytes()) {
    file_.append(header(shape.count).data(), kNpyHeaderBytes);
  }

 private:
  std::string header(std::uint64_t rows) const {
    return make_npy_header({rows, shape_.dimension, shape_.type});
  }
  void do_append(const std::byte* rows, std::size_t count) override {
    file_.append(rows, count * shape_.row_bytes());
  }
  void do_finish(std::uint64_t rows) override {
    if (rows != shape_.count) file_.overwrite(0, header(rows).data(), kNpyHeaderBytes);
    file_.commit();
  }

  OutputFile file_;
};

}  // namespace

std::unique_ptr<VectorReader> open_npy(const std::string& path) {
  return std::make_unique<NpyReader>(path);
}

std::unique_ptr<VectorWriter> create_npy(const std::string& path, const VectorShape& shape) {
  return std::make_unique<NpyWriter>(path, shape);
}

}  // namespace farvec::dataset
