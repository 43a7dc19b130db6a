// A file that is one struct: its first member is the `magic` of its kind, and its last one the
// `checksum` of all bytes before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/input_file.h"
#include "base/output_file.h"
#include "layout/crc32c.h"

namespace farvec::layout {

template <typename Bytes>
std::uint32_t checksum_of(const Bytes& bytes) {
  static_assert(offsetof(Bytes, checksum) + sizeof(bytes.checksum) == sizeof(Bytes));
  return crc32c(std::as_bytes(std::span(&bytes, 1)).first(offsetof(Bytes, checksum)));
}

/// Reads the file, which must be there. `kind` is what it has, as "a mark". Throws Error naming it
/// where it is damaged.
template <typename Bytes>
Bytes read_struct(const std::filesystem::path& path, std::uint64_t magic, std::string_view kind) {
  const std::string text = read_text(path.string(), sizeof(Bytes) + 1, kind);
  if (text.size() != sizeof(Bytes)) {
    throw Error("'{}' has {} bytes and should have {}", path.string(), text.size(), sizeof(Bytes));
  }
  Bytes bytes;
  std::memcpy(&bytes, text.data(), sizeof(bytes));
  if (bytes.magic != magic || bytes.checksum != checksum_of(bytes)) {
    throw Error("'{}' is damaged", path.string());
  }
  return bytes;
}

/// Gives the struct its checksum and replaces the file in one step. Returns when it outlives a loss
/// of power. Throws SystemError.
template <typename Bytes>
void write_struct(const std::filesystem::path& path, Bytes bytes) {
  bytes.checksum = checksum_of(bytes);
  OutputFile file(path.string(), sizeof(bytes));
  file.append(&bytes, sizeof(bytes));
  file.commit();
}

}  // namespace farvec::layout
