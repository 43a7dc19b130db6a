#include "dataset/shape.h"

#include "base/error.h"

namespace farvec::dataset {

void check_shape(const VectorFileInfo& info) {
  if (info.count == 0) throw Error("'{}' has no rows: nothing can be done with it", info.path);
  if (info.count >= kInvalidNode) {
    throw Error("'{}' has {} rows, ids go up to {}: split the file", info.path, info.count,
                kInvalidNode - 1);
  }
  if (info.dimension == 0 || info.dimension > max_dimension(info.type)) {
    throw Error("'{}' has dimension {}, which must be 1 to {}: is it really a {} file?", info.path,
                info.dimension, max_dimension(info.type), info.format);
  }
}

void check_payload(const VectorFileInfo& info, std::uint64_t header_bytes) {
  const std::uint64_t needed = header_bytes + info.count * info.row_bytes();
  if (info.file_bytes == needed) return;
  const std::uint64_t payload = info.file_bytes - header_bytes;
  throw Error(
      "'{}' has {} bytes, its header ({} rows of {} {}) needs {}: {}; the bytes after the header "
      "hold {} whole rows",
      info.path, info.file_bytes, info.count, info.dimension, to_string(info.type), needed,
      info.file_bytes < needed ? "it is truncated, fetch it again" : "the header is wrong",
      payload / info.row_bytes());
}

void check_compressed_payload(const VectorFileInfo& info, std::uint64_t stored_bytes) {
  constexpr std::uint64_t kMaxRatio = 1032;
  constexpr std::uint64_t kSlack = 4096;
  if (info.count * info.row_bytes() <= stored_bytes * kMaxRatio + kSlack) return;
  throw Error("'{}' promises {} rows of {} {}, which {} compressed bytes cannot hold: damaged",
              info.path, info.count, info.dimension, to_string(info.type), stored_bytes);
}

}  // namespace farvec::dataset
