#include "dataset/bin_file.h"

#include <array>

#include "base/error.h"
#include "dataset/input_file.h"
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

}  // namespace

std::optional<ElementType> bin_type(std::string_view suffix) {
  if (suffix == ".fbin") return ElementType::f32;
  if (suffix == ".f16bin") return ElementType::f16;
  if (suffix == ".u8bin") return ElementType::u8;
  if (suffix == ".i8bin") return ElementType::i8;
  return std::nullopt;
}

std::unique_ptr<VectorReader> open_bin(const std::string& path, ElementType type) {
  return std::make_unique<BinReader>(path, type);
}

}  // namespace farvec::dataset
