// Defines ids, element types and metrics, which every room shares.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace farvec {

/// A NodeId is the row number of a vector in its data set, and the number of its vertex in a graph.
using NodeId = std::uint32_t;
inline constexpr NodeId kInvalidNode = std::numeric_limits<NodeId>::max();

/// A ClusterId is the number of a cluster in its index, from 0.
using ClusterId = std::uint32_t;

/// The most elements of a vector of numbers, and of a vector of bits.
inline constexpr std::uint32_t kMaxDimension = 16384;
inline constexpr std::uint32_t kMaxBits = 65536;
/// The most bytes of a vector of any type.
inline constexpr std::uint32_t kMaxVectorBytes = kMaxDimension * 4;

/// The elements of b1 are bits, eight in a byte. Element i of a vector is bit i % 8 of its byte
/// i / 8, where bit 0 is the least significant one. Bits after the last element are 0.
enum class ElementType : std::uint8_t { f32 = 0, f16 = 1, u8 = 2, i8 = 3, b1 = 4 };
inline constexpr std::array kElementTypes{ElementType::f32, ElementType::f16, ElementType::u8,
                                          ElementType::i8, ElementType::b1};

/// Every metric is expressed as a distance, so smaller is closer: l2 = squared Euclidean,
/// inner_product = -<a,b>, cosine = 1 - <a,b>/(|a||b|). Two metrics compare bits: hamming = the
/// number of elements that differ, jaccard = 1 - (elements set in both) / (elements set in either),
/// which is 1 where neither has any.
enum class Metric : std::uint8_t {
  l2 = 0,
  inner_product = 1,
  cosine = 2,
  hamming = 3,
  jaccard = 4
};
inline constexpr std::array kMetrics{Metric::l2, Metric::inner_product, Metric::cosine,
                                     Metric::hamming, Metric::jaccard};

/// Returns the bytes of one number; bits have none of their own, so b1 is a broken invariant.
constexpr std::size_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return 4;
    case ElementType::f16:
      return 2;
    case ElementType::u8:
    case ElementType::i8:
      return 1;
    case ElementType::b1:
      break;
  }
  __builtin_trap();
}

/// Returns the bytes of a vector of `dimension` elements.
constexpr std::size_t packed_bytes(ElementType type, std::size_t dimension) {
  if (type == ElementType::b1) return (dimension + 7) / 8;
  return dimension * element_bytes(type);
}

constexpr std::uint32_t max_dimension(ElementType type) {
  return type == ElementType::b1 ? kMaxBits : kMaxDimension;
}

/// Returns "f32", "f16", "u8", "i8", "b1".
std::string_view to_string(ElementType type);
/// Returns "l2", "ip", "cosine", "hamming", "jaccard".
std::string_view to_string(Metric metric);
/// Throws Error naming the accepted words.
ElementType parse_element_type(std::string_view text);
Metric parse_metric(std::string_view text);

/// A VectorView shows `count` row vectors in memory that something else owns. Rows are
/// `stride_bytes` apart; a row is `dimension` elements with no alignment promise beyond that of its
/// element type.
struct VectorView {
  const std::byte* data = nullptr;
  std::size_t count = 0;
  std::uint32_t dimension = 0;
  ElementType type = ElementType::f32;
  std::size_t stride_bytes = 0;

  std::size_t row_bytes() const { return packed_bytes(type, dimension); }
  const std::byte* row(std::size_t i) const { return data + i * stride_bytes; }
  /// Returns a view of `rows` rows, from row `first` on.
  VectorView part(std::size_t first, std::size_t rows) const {
    return {row(first), rows, dimension, type, stride_bytes};
  }
};

/// Returns a packed view: rows without gaps.
inline VectorView packed_view(const void* data, std::size_t count, std::uint32_t dimension,
                              ElementType type) {
  return {static_cast<const std::byte*>(data), count, dimension, type,
          packed_bytes(type, dimension)};
}

}  // namespace farvec
