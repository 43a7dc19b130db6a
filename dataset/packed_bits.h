// These functions read bits that others have packed into bytes, and write them for others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "dataset/vector_file.h"

namespace farvec::dataset {

/// Says which bit of a byte is the first of its eight elements: the least significant one (little,
/// as in files and indexes of farvec) or the most significant one (big, which numpy.packbits() and
/// PostgreSQL's bit have).
enum class BitOrder : std::uint8_t { little, big };

/// Returns the order of "little" or "big". Throws Error naming both.
BitOrder parse_bit_order(std::string_view text);

/// Reverses the order of the bits in every byte.
void reverse_bits(std::span<std::byte> bytes);

/// Makes bits, packed_bytes() of them in `out`, of `dimension` bytes: 0 is 0, and all else is 1.
void pack_bools(const std::byte* bools, std::uint32_t dimension, std::byte* out);

/// Presents rows of u8 as rows of b1. `dimension` is how many of a row's bits are elements; without
/// it all are. The rows are not checked. Throws Error unless the elements are u8 and the dimension
/// fits the bytes of a row.
std::unique_ptr<VectorReader> read_packed_bits(std::unique_ptr<VectorReader> bytes, BitOrder order,
                                               std::optional<std::uint32_t> dimension);

/// Presents rows of b1 as the bytes that hold them, which have the type u8. Throws Error unless the
/// elements are b1, and when a row has more bytes than u8 may have.
std::unique_ptr<VectorReader> read_bits_as_bytes(std::unique_ptr<VectorReader> bits,
                                                 BitOrder order);

}  // namespace farvec::dataset
