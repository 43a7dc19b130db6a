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

/// Is made and destroyed with the interpreter; in between any thread may use it without.
class SourceRows {
 public:
  /// `name` is the argument's, for messages. An array of float64 is refused, or with
  /// `round_doubles` becomes float32, with a warning, which a file of float64 then gets too. Throws
  /// what Rows throws.
  SourceRows(const FileOrArray& data, std::string_view name, bool round_doubles = false);

  /// Returns the path of the file; for an array the argument's name.
  std::string path() const { return array_ ? std::string(name_) : path_; }
  /// Returns the rows, which are read from the file once. Throws Error, and StatusError for an
  /// array's row that has no distances to others.
  const VectorView& load(const dataset::LoadOptions& options = {});
  /// Returns a reader of the file, which may be larger than memory, or of the array.
  std::unique_ptr<dataset::VectorReader> open() const;

 private:
  const std::string_view name_;
  std::string path_;
  std::optional<Rows> array_;
  std::optional<dataset::VectorSet> loaded_;
  VectorView view_;
};

}  // namespace farvec::python
