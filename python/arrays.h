// Rows of vectors and numbers between Python's arrays and ours.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/types.h"

namespace farvec::python {

/// Whatever has a buffer or speaks DLPack, in this machine's memory.
using AnyArray = nanobind::ndarray<nanobind::ro, nanobind::device::cpu>;
using IdArray = nanobind::ndarray<const std::uint64_t, nanobind::ndim<1>, nanobind::device::cpu,
                                  nanobind::c_contig>;

/// Rows of an array that a call was given; the array lives as long as these.
class Rows {
 public:
  /// `name` of the argument, for messages. An array of one dimension is one row. What is not
  /// C-contiguous is copied, with a Python warning. Throws StatusError (invalid_argument) for a
  /// type other than float32, float16, uint8 and int8, and for a shape that cannot be. Needs the
  /// interpreter.
  Rows(AnyArray array, std::string_view name);

  const VectorView& view() const { return view_; }
  /// Whether it was one row and not a list of them.
  bool is_one() const { return is_one_; }
  /// Throws StatusError (invalid_argument) naming the first row with NaN or infinite values.
  void require_finite() const;

 private:
  void copy(std::size_t rows);

  AnyArray array_;
  std::string_view name_;
  std::vector<std::byte> copy_;
  VectorView view_;
  bool is_one_ = false;
};

/// The element type's name in numpy: "float32".
std::string_view numpy_name(ElementType type);

/// An argument that counts something. Throws StatusError (invalid_argument) naming it unless it
/// lies within 0 and the most that fits.
std::uint32_t to_count(std::int64_t value, std::string_view name);

/// The same with other bounds.
std::uint32_t within(std::int64_t value, std::string_view name, std::uint32_t least,
                     std::uint32_t most);
inline constexpr std::uint32_t kMostThreads = 1024;
inline constexpr std::uint32_t kMostList = 1u << 20;

/// A numpy array that takes the values over: of `rows` rows of `columns`, or, as one row, of its
/// values alone. Needs the interpreter.
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

/// Rows that `owner` keeps, read-only, as a numpy array.
nanobind::object to_numpy(const VectorView& rows, nanobind::handle owner);

}  // namespace farvec::python
