#include "dataset/packed_bits.h"

#include <array>
#include <utility>

#include "base/error.h"
#include "base/packed_bits.h"
#include "dataset/shape.h"

namespace farvec::dataset {
namespace {

constexpr std::array<std::byte, 256> reversed_bytes() {
  std::array<std::byte, 256> table{};
  for (unsigned value = 0; value < table.size(); ++value) {
    unsigned reversed = 0;
    for (unsigned bit = 0; bit < 8; ++bit) reversed |= ((value >> bit) & 1u) << (7 - bit);
    table[value] = static_cast<std::byte>(reversed);
  }
  return table;
}

/// Gives the bytes of another reader's rows another meaning.
class BytesReader final : public VectorReader {
 public:
  BytesReader(VectorFileInfo info, std::unique_ptr<VectorReader> bytes, BitOrder order)
      : VectorReader(std::move(info)), bytes_(std::move(bytes)), order_(order) {
    check_shape(info_);
  }

 private:
  void do_read(std::uint64_t begin, std::size_t count, std::byte* out) override {
    bytes_->read_rows(begin, count, out);
    if (order_ == BitOrder::big) reverse_bits({out, count * info_.row_bytes()});
  }

  std::unique_ptr<VectorReader> bytes_;
  BitOrder order_;
};

void require_type(const VectorFileInfo& info, ElementType type, std::string_view what) {
  if (info.type == type) return;
  throw Error("'{}' holds {}, and {} are {}", info.path, to_string(info.type), what,
              to_string(type));
}

}  // namespace

BitOrder parse_bit_order(std::string_view text) {
  if (text == "little") return BitOrder::little;
  if (text == "big") return BitOrder::big;
  throw Error("unknown order of bits '{}': use big or little", text);
}

void reverse_bits(std::span<std::byte> bytes) {
  static constexpr auto kReversed = reversed_bytes();
  for (std::byte& byte : bytes) byte = kReversed[std::to_integer<std::size_t>(byte)];
}

void pack_bools(const std::byte* bools, std::uint32_t dimension, std::byte* out) {
  pack_bits(dimension, out, [&](std::uint32_t i) { return bools[i] != std::byte{0}; });
}

std::unique_ptr<VectorReader> read_packed_bits(std::unique_ptr<VectorReader> bytes, BitOrder order,
                                               std::optional<std::uint32_t> dimension) {
  VectorFileInfo info = bytes->info();
  require_type(info, ElementType::u8, "packed bits");
  const std::uint32_t row_bytes = info.dimension;
  info.type = ElementType::b1;
  info.dimension = dimension.value_or(8 * row_bytes);
  if (info.row_bytes() != row_bytes) {
    throw Error("'{}' has {} bytes in a row, which hold {} to {} bits: {} do not fit", info.path,
                row_bytes, 8 * row_bytes - 7, 8 * row_bytes, info.dimension);
  }
  return std::make_unique<BytesReader>(std::move(info), std::move(bytes), order);
}

std::unique_ptr<VectorReader> read_bits_as_bytes(std::unique_ptr<VectorReader> bits,
                                                 BitOrder order) {
  VectorFileInfo info = bits->info();
  require_type(info, ElementType::b1, "vectors of bits");
  info.dimension = static_cast<std::uint32_t>(info.row_bytes());
  info.type = ElementType::u8;
  return std::make_unique<BytesReader>(std::move(info), std::move(bits), order);
}

}  // namespace farvec::dataset
