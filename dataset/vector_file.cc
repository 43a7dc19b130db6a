#include "dataset/vector_file.h"

#include <filesystem>

#include "base/error.h"
#include "dataset/bin_file.h"

namespace farvec::dataset {

void VectorReader::read_rows(std::uint64_t begin, std::size_t count, std::byte* out) {
  if (begin > info_.count || count > info_.count - begin) {
    throw Error("'{}' has {} rows, rows {} to {} were asked for", info_.path, info_.count, begin,
                begin + count);
  }
  if (count > 0) do_read(begin, count, out);
}

std::unique_ptr<VectorReader> open_vectors(const std::string& path) {
  const std::string suffix = std::filesystem::path(path).extension().string();
  if (const auto type = bin_type(suffix)) return open_bin(path, *type);
  throw Error("'{}' has the unknown suffix '{}': vectors are read from .fbin .f16bin .u8bin .i8bin",
              path, suffix);
}

}  // namespace farvec::dataset
