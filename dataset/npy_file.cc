#include "dataset/npy_file.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "base/error.h"
#include "base/input_file.h"
#include "base/memory.h"
#include "base/output_file.h"
#include "dataset/npy_header.h"
#include "dataset/shape.h"

namespace farvec::dataset {
namespace {

constexpr std::size_t kNpyPrefixBytes = 12;  // magic, version, length: 2 bytes in version 1, else 4
constexpr std::uint64_t kMaxDictionaryBytes = 1u << 16;

struct Dictionary {
  std::string text;
  std::uint64_t end = 0;  // offset of the first element
};

Dictionary read_dictionary(const InputFile& file) {
  std::array<char, kNpyPrefixBytes> prefix{};
  if (file.size() < kNpyPrefixBytes) {
    throw Error("'{}' has {} bytes, less than an .npy header: it is truncated", file.path(),
                file.size());
  }
  file.read_at(0, prefix.data(), kNpyPrefixBytes);
  const std::string_view magic(prefix.data(), 6);
  const char version = prefix[6];
  if (magic != "\x93NUMPY" || version < 1 || version > 3) {
    throw Error("'{}' does not begin as an .npy file of version 1, 2 or 3", file.path());
  }
  const std::uint64_t begin = version == 1 ? 10 : 12;
  const std::uint64_t length = version == 1 ? load_unaligned<std::uint16_t>(&prefix[8])
                                            : load_unaligned<std::uint32_t>(&prefix[8]);
  if (length > kMaxDictionaryBytes || begin + length > file.size()) {
    throw Error("'{}': the .npy header says it has {} bytes, the file has {}: it is damaged",
                file.path(), length, file.size());
  }
  Dictionary dictionary{std::string(length, '\0'), begin + length};
  file.read_at(begin, dictionary.text.data(), length);
  return dictionary;
}

class NpyReader final : public VectorReader {
 public:
  explicit NpyReader(const std::string& path) : VectorReader({}), file_(path) {
    const Dictionary dictionary = read_dictionary(file_);
    data_offset_ = dictionary.end;
    const NpyShape shape = parse_npy_dictionary(dictionary.text, path);
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
