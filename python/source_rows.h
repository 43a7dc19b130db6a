// SourceRows are vectors that a call was given, in a file or in an array.
#pragma once

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/variant.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "dataset/vector_file.h"
#include "dataset/vector_set.h"
#include "python/arrays.h"

namespace farvec::python {

using FileOrArray = std::variant<std::filesystem::path, AnyArray>;

/// Holds the arguments that say that vectors are bits.
struct AskedBits {
  std::optional<std::string> type;        ///< "b1", or none: the vectors have a type of their own
  std::optional<std::int64_t> dimension;  ///< none: all bits of a row
  std::string bitorder = "big";

  /// Throws StatusError (invalid_argument) naming the argument.
  Wish wish(bool round_doubles = false) const;
};

/// Throws StatusError (invalid_argument) naming the argument unless the metric can compare vectors
/// of the type.
void require_metric(std::string_view name, Metric metric, ElementType type);

/// Is made and destroyed with the interpreter; in between any thread may use it without.
class SourceRows {
 public:
  /// `name` is the argument's, for messages. An array of float64 is refused, or with
  /// wish.round_doubles becomes float32, with a warning, which a file of float64 then gets too.
  /// With b1 wished for, bytes are bits in an array as in a file of u8. Throws what Rows throws,
  /// and Error for a file that cannot be so.
  SourceRows(const FileOrArray& data, std::string_view name, const Wish& wish = {});

  /// Returns the path of the file; for an array the argument's name.
  std::string path() const { return array_ ? std::string(name_) : path_; }
  /// Returns the rows, which are read from the file once. Throws Error, and StatusError for an
  /// array's row that has no distances to others.
  const VectorView& load(const dataset::LoadOptions& options = {});
  /// Returns a reader of the file, which may be larger than memory, or of the array.
  std::unique_ptr<dataset::VectorReader> open() const;

 private:
  const std::string_view name_;
  Wish wish_;
  std::string path_;
  std::optional<Rows> array_;
  std::optional<dataset::VectorSet> loaded_;
  VectorView view_;
};

}  // namespace farvec::python
