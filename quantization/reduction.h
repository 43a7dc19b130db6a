// A Reduction makes vectors of fewer bits of the vectors of a data set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "layout/index/second_copy.h"

namespace farvec::quantization {

/// Packs a row into bits: element i becomes 1 where it is above threshold i. `out` has a byte for
/// each eight elements, and the bits after the last are 0.
void to_bits(std::span<const float> row, std::span<const float> thresholds, std::byte* out);

/// Says for which rows there is a factor.
enum class RoundedRows : std::uint8_t {
  apart,  ///< for those that rounding tells apart; others are refused
  any     ///< for all: rows that it does not tell apart become equal
};

/// Returns the factor by which elements are multiplied before they are rounded to `type`. For u8
/// and i8 it makes the largest element of all rows the largest that the type has. For f16 it is 1,
/// or makes that element 1 where it is beyond halves or has few bits as a half. Unless rows may be
/// any, throws Error for u8 where elements are negative, for integers where all are 0, and where a
/// float has no such factor.
float rounding_factor(const VectorView& rows, ElementType type, unsigned threads,
                      RoundedRows which = RoundedRows::apart);

/// Thread-safe: its method is const and keeps its state on the stack.
class Reduction {
 public:
  /// Reduces vectors of facts.type and `dimension` elements to type `to`.
  Reduction(const layout::SecondCopyFacts& facts, ElementType to, std::uint32_t dimension);

  ElementType type() const { return to_; }
  std::size_t bytes() const { return packed_bytes(to_, dimension_); }
  /// Returns what elements are multiplied by; 1 for bits.
  float factor() const { return kind_ == layout::ReductionKind::bits ? 1 : parameters_.front(); }
  /// Writes the reduced form of one row of facts.type, bytes() long. Neither needs alignment. An
  /// element that the type cannot have becomes the nearest one that it has.
  void reduce(const std::byte* row, std::byte* out) const;

 private:
  ElementType from_;
  ElementType to_;
  std::uint32_t dimension_;
  layout::ReductionKind kind_;
  std::vector<float> parameters_;
};

}  // namespace farvec::quantization
