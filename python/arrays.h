// These types and functions pass rows of vectors, and numbers, between Python's arrays and ours.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/types.h"
#include "changes/receipt.h"
#include "dataset/packed_bits.h"

namespace farvec::python {

/// Is anything that has a buffer or speaks DLPack, in this machine's memory.
using PlainArray = nanobind::ndarray<nanobind::ro, nanobind::device::cpu>;

/// Holds an argument that is to be an array, or lists of numbers. It may be any object until code
/// that knows the argument's name looks at it.
struct AnyArray {
  nanobind::object object;
};

/// The order of bits that numpy.packbits() has when it is not told.
inline constexpr dataset::BitOrder kUsualBitOrder = dataset::BitOrder::big;

/// Says what becomes of values that have no type of ours.
struct Wish {
  /// The type for lists of numbers. b1 says that an array of uint8 has bits in its bytes.
  ElementType type = ElementType::f32;
  bool round_doubles = false;  ///< round an array of float64, with a Python warning
  std::optional<std::uint32_t> dimension = std::nullopt;  ///< bits of b1; none: all
  dataset::BitOrder bit_order = kUsualBitOrder;           ///< in bytes of b1
};

/// Returns the order that the argument `bitorder` names. Throws StatusError (invalid_argument).
dataset::BitOrder parse_bitorder(const std::string& text);

/// Holds rows of an array that a call was given; the array lives as long as these.
class Rows {
 public:
  /// `name` is the argument's, for messages. An array of one dimension is one row. An array that is
  /// not C-contiguous is copied, with a Python warning. Throws StatusError (invalid_argument), or
  /// what farvec/_arrays.py raises, for a masked array, for a type other than float32, float16,
  /// uint8, int8 and bool, and for a shape that cannot be. An array of bool has a bit in each
  /// element, and becomes b1 in a copy. Needs the interpreter.
  Rows(const AnyArray& array, std::string_view name, const Wish& wish = {});

  const VectorView& view() const { return view_; }
  /// Returns whether the argument was one row and not several.
  bool is_one() const { return is_one_; }
  /// Throws StatusError (invalid_argument) naming the first row that has no distances to others: it
  /// has NaN or infinite values, or is too long for the metric, where that is known.
  void require_sound(std::optional<Metric> metric = std::nullopt) const;

 private:
  void copy();
  void pack_bools(const Wish& wish);
  void take_bits(const Wish& wish);

  PlainArray array_;
  std::string_view name_;
  std::vector<std::byte> copy_;
  VectorView view_;
  bool is_one_ = false;
};

/// Holds ids that a call was given, each of them exactly as it was.
struct Ids {
  /// Takes an array of integers of any width, lists of integers, or one integer. Throws what Rows
  /// throws, naming the argument, for everything else, and for more dimensions than `dimensions`.
  Ids(const AnyArray& array, std::string_view name, std::size_t dimensions = 1);

  std::span<const std::uint64_t> all() const { return values; }

  std::vector<std::uint64_t> values;
  std::vector<std::size_t> shape;
  /// The largest number of the ids' type, which stands for none in a result of that type.
  std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
};

/// Holds floats that a call was given, as float32. Throws what Ids throws.
struct Distances {
  Distances(const AnyArray& array, std::string_view name);

  std::vector<float> values;
  std::vector<std::size_t> shape;
};

/// Returns the element type's name in numpy, for instance "float32"; for bits that of their bytes.
std::string_view numpy_name(ElementType type);
/// Does the same for messages, which call bits bits.
std::string_view type_words(ElementType type);

/// Returns an argument that counts something. Throws StatusError (invalid_argument) naming it
/// unless it is 0 or more and fits.
std::uint32_t to_count(std::int64_t value, std::string_view name);

/// Does the same with other bounds.
std::uint32_t within(std::int64_t value, std::string_view name, std::uint32_t least,
                     std::uint32_t most);
inline constexpr std::uint32_t kMostThreads = 1024;
inline constexpr std::uint32_t kMostList = 1u << 20;

/// Returns a numpy array that takes over the values: `rows` rows of `columns`, or with `as_one` a
/// single row without that dimension. Needs the interpreter.
template <typename T>
nanobind::object to_numpy(std::vector<T> values, std::size_t rows, std::size_t columns,
                          bool as_one) {
  auto* const owned = new std::vector<T>(std::move(values));
  const nanobind::capsule owner(owned,
                                [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  const std::size_t shape[2] = {as_one ? columns : rows, columns};
  return nanobind::cast(
      nanobind::ndarray<nanobind::numpy, T>(owned->data(), as_one ? 1 : 2, shape, owner));
}

/// Returns rows that `owner` keeps as a read-only numpy array; of bits their bytes, as they are.
nanobind::object to_numpy(const VectorView& rows, nanobind::handle owner);

/// Returns what get() of an index returns in Python: whether each id was found, and the rows that
/// were. The arrays own their values. Bits have the order `bits`.
nanobind::tuple to_tuple(changes::FoundRows rows, std::uint32_t dimension, ElementType type,
                         dataset::BitOrder bits);

}  // namespace farvec::python

/// Accepts any object: code that knows the argument's name says what is wrong with it.
template <>
struct nanobind::detail::type_caster<farvec::python::AnyArray> {
  NB_TYPE_CASTER(farvec::python::AnyArray, const_name("numpy.typing.ArrayLike"))

  bool from_python(handle source, std::uint8_t, cleanup_list*) noexcept {
    value.object = borrow(source);
    return true;
  }
};
