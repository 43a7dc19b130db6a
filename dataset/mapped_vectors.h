// A vector file that stays where it is: for builds over more data than memory.
#pragma once

#include <cstddef>
#include <string>

#include "base/types.h"
#include "dataset/vector_file.h"

namespace farvec::dataset {

/// Maps a file of the "bin" format read-only; the kernel keeps what it has room for. The file must
/// not change while it is mapped.
class MappedVectors {
 public:
  /// Reads every row once to refuse NaN and infinity. Throws Error when the file is damaged, of
  /// another format, or a row is not finite.
  explicit MappedVectors(const std::string& path);
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
