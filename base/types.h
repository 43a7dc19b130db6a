// Defines ids, element types and metrics, which every room shares.
#pragma once

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

inline constexpr std::uint32_t kMaxDimension = 4096;

enum class ElementType : std::uint8_t { f32 = 0, f16 = 1, u8 = 2, i8 = 3 };

/// Every metric is expressed as a distance, so smaller is closer: l2 = squared Euclidean,
/// inner_product = -<a,b>, cosine = 1 - <a,b>/(|a||b|).
enum class Metric : std::uint8_t { l2 = 0, inner_product = 1, cosine = 2 };

constexpr std::size_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return 4;
    case ElementType::f16:
      return 2;
    default:
      return 1;
  }
}

/// Returns "f32", "f16", "u8", "i8".
std::string_view to_string(ElementType type);
/// Returns "l2", "ip", "cosine".
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

  std::size_t row_bytes() const { return dimension * element_bytes(type); }
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
          dimension * element_bytes(type)};
}

}  // namespace farvec
