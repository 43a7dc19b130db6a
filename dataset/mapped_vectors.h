// MappedVectors is a vector file that is mapped and not loaded, for builds over more data than
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/types.h"
#include "dataset/vector_file.h"

namespace farvec::dataset {

/// Maps a file of the "bin" format read-only; the kernel keeps as much of it in memory as it has
/// room for. The file must not change while it is mapped.
class MappedVectors {
 public:
  /// With `finite`, every row is read once, to refuse NaN, infinity, and rows that are too long for
  /// the metric.
  enum class Values : std::uint8_t { finite, any };

  /// Says whether the rows of such a file are stored one after another, which is so in the "bin"
  /// format and in "npy". Throws what open_vectors() throws.
  static bool can_map(const std::string& path);

  /// Throws Error when the file is damaged, or has a format that cannot be mapped, or when a row is
  /// not what `values` demands.
  explicit MappedVectors(const std::string& path, Values values = Values::finite,
                         std::optional<Metric> metric = std::nullopt);
  ~MappedVectors();
  MappedVectors(const MappedVectors&) = delete;
  MappedVectors& operator=(const MappedVectors&) = delete;

  const VectorView& view() const { return view_; }

 private:
  VectorView view_;
  void* mapping_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace farvec::dataset
