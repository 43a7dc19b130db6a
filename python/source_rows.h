// Vectors that a call was given: in a file, or in an array.
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

/// Made and destroyed with the interpreter; between the two any thread may use it without.
class SourceRows {
 public:
  /// `name` of the argument, for messages. An array of float64 is refused, or becomes float32 with
  /// a warning. Throws as Rows does.
  SourceRows(const FileOrArray& data, std::string_view name, bool round_doubles = false);

  /// Path of the file; of an array what stands for one.
  std::string path() const { return array_ ? std::string(name_) : path_; }
  /// The rows, read from the file once. Throws Error, and StatusError for an array's row that has
  /// no distances to others.
  const VectorView& load(const dataset::LoadOptions& options = {});
  /// Of a file that may be larger than memory, or of the array.
  std::unique_ptr<dataset::VectorReader> open() const;

 private:
  const std::string_view name_;
  std::string path_;
  std::optional<Rows> array_;
  std::optional<dataset::VectorSet> loaded_;
  VectorView view_;
};

}  // namespace farvec::python
