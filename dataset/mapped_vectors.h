// A vector file that stays where it is: for builds over more data than memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/types.h"
#include "dataset/vector_file.h"

namespace farvec::dataset {

/// Maps a file of the "bin" format read-only; the kernel keeps what it has room for. The file must
/// not change while it is mapped.
class MappedVectors {
 public:
  /// `finite`: every row is read once, to refuse NaN and infinity, and what is too long for the
  /// metric.
  enum class Values : std::uint8_t { finite, any };

  /// Whether the rows of such a file lie in it one after another: those of the "bin" format and of
  /// "npy". Throws as open_vectors().
  static bool can_map(const std::string& path);

  /// Throws Error when the file is damaged, of a format that cannot be mapped, or a row is not what
  /// its values have to be.
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
