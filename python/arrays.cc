#include "python/arrays.h"

#include <nanobind/stl/string_view.h>

#include <cstring>
#include <limits>
#include <memory>
#include <optional>

#include "base/row_fault.h"
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
    case ElementType::b1:  // numpy has bytes of them
      return {static_cast<std::uint8_t>(Code::UInt), 8, 1};
  }
  return {};
}

/// Returns false for a class derived from numpy's array: it may say more than its numbers, for
/// instance with a mask.
bool is_plain_numpy(nb::handle object) {
  static const nb::handle type =
      nb::object(nb::module_::import_("numpy").attr("ndarray")).release();
  return object.type().is(type);
}

bool is_of(const PlainArray& array, Code code, std::uint8_t bits) {
  return array.dtype() == nb::dlpack::dtype{static_cast<std::uint8_t>(code), bits, 1};
}

/// Returns a numpy array as it is, unless its float64 values are to be rounded, or else what
/// farvec/_arrays.py makes of the argument.
PlainArray plain_rows(const AnyArray& array, std::string_view name, const Wish& wish) {
  PlainArray plain;
  if (is_plain_numpy(array.object) && nb::try_cast(array.object, plain) &&
      !(wish.round_doubles && is_of(plain, Code::Float, 64))) {
    return plain;
  }
  const nb::object rows =
      nb::module_::import_("farvec._arrays")
          .attr("rows")(array.object, name, numpy_name(wish.type), wish.round_doubles);
  return nb::cast<PlainArray>(rows);
}

constexpr nb::dlpack::dtype kBool{static_cast<std::uint8_t>(Code::Bool), 8, 1};

/// Returns b1 for bools, which are not packed yet, and never for bytes.
ElementType element_type(const PlainArray& array, std::string_view name) {
  if (array.dtype() == kBool) return ElementType::b1;
  for (const ElementType type :
       {ElementType::f32, ElementType::f16, ElementType::u8, ElementType::i8}) {
    if (array.dtype() == dtype_of(type)) return type;
  }
  throw_invalid(
      "{}: its elements are not float32, float16, uint8, int8 or bool: convert it, as "
      "{}.astype(numpy.float32)",
      name, name);
}

/// Counts the elements from one row of an array to the next, and from one element of a row to the
/// next.
struct Strides {
  std::int64_t row = 0;
  std::int64_t element = 1;
};

Strides strides_of(const PlainArray& array) {
  if (array.ndim() == 1) return {0, array.stride(0)};
  return {array.stride(0), array.stride(1)};
}

/// Returns whether the rows are without gaps, and aligned for their elements.
bool is_packed(const PlainArray& array, const VectorView& view) {
  const Strides strides = strides_of(array);
  const bool within = strides.element == 1 || view.dimension == 1;
  const bool between = view.count < 2 || strides.row == static_cast<std::int64_t>(view.dimension);
  const auto address = reinterpret_cast<std::uintptr_t>(array.data());
  return within && between && address % element_bytes(view.type) == 0;
}

/// Returns the most elements that a row of the array may have.
std::uint32_t max_columns(bool bools, const Wish& wish) {
  if (bools) return kMaxBits;
  return wish.type == ElementType::b1 ? kMaxBits / 8 : kMaxDimension;
}

}  // namespace

Rows::Rows(const AnyArray& array, std::string_view name, const Wish& wish)
    : array_(plain_rows(array, name, wish)), name_(name) {
  if (array_.ndim() != 1 && array_.ndim() != 2) {
    throw_invalid("{}: it has {} dimensions: give rows of vectors (2), or one vector (1)", name,
                  array_.ndim());
  }
  is_one_ = array_.ndim() == 1;
  const std::size_t rows = is_one_ ? 1 : array_.shape(0);
  const std::size_t columns = array_.shape(array_.ndim() - 1);
  ElementType type = element_type(array_, name);
  const bool bools = type == ElementType::b1;
  if (bools) type = ElementType::u8;
  const std::uint32_t most = max_columns(bools, wish);
  if (columns == 0 || columns > most) {
    throw_invalid("{}: vectors of {} elements: use 1 to {}", name, columns, most);
  }
  view_ = packed_view(array_.data(), rows, static_cast<std::uint32_t>(columns), type);
  if (rows > 0 && !is_packed(array_, view_)) copy();
  if (bools) {
    pack_bools(wish);
  } else if (wish.type == ElementType::b1) {
    take_bits(wish);
  }
}

void Rows::copy() {
  const std::string text = fmt::format(
      "{} is not C-contiguous and is copied: numpy.ascontiguousarray() does it once", name_);
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) throw nb::python_error();
  const std::size_t bytes = element_bytes(view_.type);
  const Strides strides = strides_of(array_);
  const auto* const from = static_cast<const std::byte*>(array_.data());
  copy_.resize(view_.count * view_.row_bytes());
  std::byte* out = copy_.data();
  for (std::size_t row = 0; row < view_.count; ++row) {
    for (std::uint32_t d = 0; d < view_.dimension; ++d, out += bytes) {
      const std::int64_t element = static_cast<std::int64_t>(row) * strides.row +
                                   static_cast<std::int64_t>(d) * strides.element;
      std::memcpy(out, from + element * static_cast<std::int64_t>(bytes), bytes);
    }
  }
  view_.data = copy_.data();
}

/// Makes bits of bytes that are 0 or 1.
void Rows::pack_bools(const Wish& wish) {
  if (wish.dimension.value_or(view_.dimension) != view_.dimension) {
    throw_invalid("{}: vectors of {} bits, where {} are wanted", name_, view_.dimension,
                  *wish.dimension);
  }
  const std::size_t row_bytes = packed_bytes(ElementType::b1, view_.dimension);
  std::vector<std::byte> packed(view_.count * row_bytes);
  for (std::size_t i = 0; i < view_.count; ++i) {
    dataset::pack_bools(view_.row(i), view_.dimension, &packed[i * row_bytes]);
  }
  copy_ = std::move(packed);
  view_ = packed_view(copy_.data(), view_.count, view_.dimension, ElementType::b1);
}

/// Takes the bytes of the view as bits.
void Rows::take_bits(const Wish& wish) {
  if (view_.type != ElementType::u8) {
    throw_invalid(
        "{}: it is {}, and bits (b1) come as uint8, of which numpy.packbits() makes rows, or as "
        "bool: {} > 0 makes an array of bool",
        name_, numpy_name(view_.type), name_);
  }
  const std::uint32_t columns = view_.dimension;
  const std::uint32_t dimension = wish.dimension.value_or(8 * columns);
  if (packed_bytes(ElementType::b1, dimension) != columns) {
    throw_invalid("{}: it has {} bytes in a row, and vectors of {} bits have {}", name_, columns,
                  dimension, packed_bytes(ElementType::b1, dimension));
  }
  if (wish.bit_order == dataset::BitOrder::big) {
    if (copy_.empty()) copy_.assign(view_.data, view_.data + view_.count * columns);
    dataset::reverse_bits(copy_);
    view_.data = copy_.data();
  }
  view_ = packed_view(view_.data, view_.count, dimension, ElementType::b1);
}

void Rows::require_sound(std::optional<Metric> metric) const {
  const auto faulty = find_faulty_row(view_, metric);
  if (!faulty) return;
  if (faulty->fault == RowFault::not_finite) {
    throw_invalid("{}: row {} has NaN or infinite values", name_, faulty->row);
  }
  if (faulty->fault == RowFault::bits_beyond) {
    throw_invalid(
        "{}: row {} has bits set after its last element: are {} the dimension, and bitorder "
        "the order of its bits?",
        name_, faulty->row, view_.dimension);
  }
  throw_invalid("{}: row {} {}", name_, faulty->row, to_string(faulty->fault));
}

Ids::Ids(const AnyArray& array, std::string_view name, std::size_t dimensions) {
  PlainArray given;
  if (is_plain_numpy(array.object) && nb::try_cast(array.object, given) &&
      is_of(given, Code::UInt, 32)) {
    none = std::numeric_limits<std::uint32_t>::max();
  }
  using Exact = nb::ndarray<const std::uint64_t, nb::device::cpu, nb::c_contig>;
  Exact exact;
  if (!is_plain_numpy(array.object) || !nb::try_cast(array.object, exact, false)) {
    exact = nb::cast<Exact>(nb::module_::import_("farvec._arrays").attr("ids")(array.object, name));
  }
  if (exact.ndim() > dimensions) {
    throw_invalid("{}: it has {} dimensions, and not {}", name, exact.ndim(), dimensions);
  }
  values.assign(exact.data(), exact.data() + exact.size());
  for (std::size_t i = 0; i < exact.ndim(); ++i) shape.push_back(exact.shape(i));
}

Distances::Distances(const AnyArray& array, std::string_view name) {
  using Floats = nb::ndarray<const float, nb::device::cpu, nb::c_contig>;
  const auto floats = nb::cast<Floats>(
      nb::module_::import_("farvec._arrays").attr("distances")(array.object, name));
  values.assign(floats.data(), floats.data() + floats.size());
  for (std::size_t i = 0; i < floats.ndim(); ++i) shape.push_back(floats.shape(i));
}

std::string_view numpy_name(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return "float32";
    case ElementType::f16:
      return "float16";
    case ElementType::u8:
    case ElementType::b1:
      return "uint8";
    case ElementType::i8:
      break;
  }
  return "int8";
}

std::string_view type_words(ElementType type) {
  return type == ElementType::b1 ? "bits (b1)" : numpy_name(type);
}

dataset::BitOrder parse_bitorder(const std::string& text) {
  return parsed("bitorder", dataset::parse_bit_order, text);
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
  const bool bits = rows.type == ElementType::b1;
  const std::size_t shape[2] = {rows.count, bits ? rows.row_bytes() : rows.dimension};
  const std::size_t bytes = bits ? 1 : element_bytes(rows.type);
  const std::int64_t strides[2] = {static_cast<std::int64_t>(rows.stride_bytes / bytes), 1};
  return nb::cast(
      nb::ndarray<nb::numpy, nb::ro>(rows.data, 2, shape, owner, strides, dtype_of(rows.type)));
}

nb::tuple to_tuple(changes::FoundRows rows, std::uint32_t dimension, ElementType type,
                   dataset::BitOrder bits) {
  if (type == ElementType::b1 && bits == dataset::BitOrder::big) dataset::reverse_bits(rows.rows);
  auto owned = std::make_unique<changes::FoundRows>(std::move(rows));
  std::vector<std::uint8_t> found(owned->found.begin(), owned->found.end());
  const std::size_t row_bytes = packed_bytes(type, dimension);
  const VectorView view =
      packed_view(owned->rows.data(), owned->rows.size() / row_bytes, dimension, type);
  const nb::capsule owner(owned.release(),
                          [](void* p) noexcept { delete static_cast<changes::FoundRows*>(p); });
  const std::size_t count = found.size();
  return nb::make_tuple(to_numpy(std::move(found), 1, count, true).attr("astype")("bool"),
                        to_numpy(view, owner));
}

}  // namespace farvec::python
