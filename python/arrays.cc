#include "python/arrays.h"

#include <cstring>
#include <limits>
#include <optional>

#include "base/finite.h"
#include "python/errors.h"

namespace farvec::python {
namespace {

namespace nb = nanobind;
using Code = nb::dlpack::dtype_code;

constexpr nb::dlpack::dtype dtype_of(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return {static_cast<std::uint8_t>(Code::Float), 32, 1};
    case ElementType::f16:
      return {static_cast<std::uint8_t>(Code::Float), 16, 1};
    case ElementType::u8:
      return {static_cast<std::uint8_t>(Code::UInt), 8, 1};
    case ElementType::i8:
      return {static_cast<std::uint8_t>(Code::Int), 8, 1};
  }
  return {};
}

ElementType element_type(const AnyArray& array, std::string_view name) {
  for (const ElementType type :
       {ElementType::f32, ElementType::f16, ElementType::u8, ElementType::i8}) {
    if (array.dtype() == dtype_of(type)) return type;
  }
  throw_invalid(
      "{}: its elements are not float32, float16, uint8 or int8: convert it, as "
      "{}.astype(numpy.float32)",
      name, name);
}

/// Elements between two rows of an array, and between two elements of a row.
struct Strides {
  std::int64_t row = 0;
  std::int64_t element = 1;
};

Strides strides_of(const AnyArray& array) {
  if (array.ndim() == 1) return {0, array.stride(0)};
  return {array.stride(0), array.stride(1)};
}

/// Rows without gaps, aligned as their elements are.
bool is_packed(const AnyArray& array, const VectorView& view) {
  const Strides strides = strides_of(array);
  const bool within = strides.element == 1 || view.dimension == 1;
  const bool between = view.count < 2 || strides.row == static_cast<std::int64_t>(view.dimension);
  const auto address = reinterpret_cast<std::uintptr_t>(array.data());
  return within && between && address % element_bytes(view.type) == 0;
}

}  // namespace

Rows::Rows(AnyArray array, std::string_view name) : array_(std::move(array)), name_(name) {
  if (array_.ndim() != 1 && array_.ndim() != 2) {
    throw_invalid("{}: it has {} dimensions: give rows of vectors (2), or one vector (1)", name,
                  array_.ndim());
  }
  is_one_ = array_.ndim() == 1;
  const std::size_t rows = is_one_ ? 1 : array_.shape(0);
  const std::size_t dimension = array_.shape(array_.ndim() - 1);
  if (dimension == 0 || dimension > kMaxDimension) {
    throw_invalid("{}: vectors of {} elements: use 1 to {}", name, dimension, kMaxDimension);
  }
  view_ = packed_view(array_.data(), rows, static_cast<std::uint32_t>(dimension),
                      element_type(array_, name));
  if (rows > 0 && !is_packed(array_, view_)) copy(rows);
}

void Rows::copy(std::size_t rows) {
  const std::string text = fmt::format(
      "{} is not C-contiguous and is copied: numpy.ascontiguousarray() does it once", name_);
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) throw nb::python_error();
  const std::size_t bytes = element_bytes(view_.type);
  const Strides strides = strides_of(array_);
  const auto* const from = static_cast<const std::byte*>(array_.data());
  copy_.resize(rows * view_.row_bytes());
  std::byte* out = copy_.data();
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::uint32_t d = 0; d < view_.dimension; ++d, out += bytes) {
      const std::int64_t element = static_cast<std::int64_t>(row) * strides.row +
                                   static_cast<std::int64_t>(d) * strides.element;
      std::memcpy(out, from + element * static_cast<std::int64_t>(bytes), bytes);
    }
  }
  view_.data = copy_.data();
}

void Rows::require_finite() const {
  for (std::size_t row = 0; row < view_.count; ++row) {
    if (is_finite_row(view_.row(row), view_.type, view_.dimension)) continue;
    throw_invalid("{}: row {} has NaN or infinite values", name_, row);
  }
}

std::string_view numpy_name(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return "float32";
    case ElementType::f16:
      return "float16";
    case ElementType::u8:
      return "uint8";
    default:
      return "int8";
  }
}

std::uint32_t within(std::int64_t value, std::string_view name, std::uint32_t least,
                     std::uint32_t most) {
  if (value < static_cast<std::int64_t>(least) || value > static_cast<std::int64_t>(most)) {
    throw_invalid("{}: {} is out of range: use {} to {}", name, value, least, most);
  }
  return static_cast<std::uint32_t>(value);
}

std::uint32_t to_count(std::int64_t value, std::string_view name) {
  return within(value, name, 0, std::numeric_limits<std::uint32_t>::max());
}

nb::object to_numpy(const VectorView& rows, nb::handle owner) {
  const std::size_t shape[2] = {rows.count, rows.dimension};
  const auto bytes = element_bytes(rows.type);
  const std::int64_t strides[2] = {static_cast<std::int64_t>(rows.stride_bytes / bytes), 1};
  return nb::cast(
      nb::ndarray<nb::numpy, nb::ro>(rows.data, 2, shape, owner, strides, dtype_of(rows.type)));
}

}  // namespace farvec::python
