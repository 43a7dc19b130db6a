// These functions read and seal the files that have tuples beside a segment: a header, 64-bit words
// and the tuples.
#pragma once

#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/error.h"
#include "base/input_file.h"
#include "layout/collection/collection_format.h"

namespace farvec::layout {

/// Returns the checksum of a header, whose last member it is.
template <typename Header>
std::uint64_t header_checksum_of(const Header& header) {
  return XXH3_64bits(&header, offsetof(Header, header_checksum));
}

/// Returns the checksum of what follows the header.
inline std::uint64_t tuples_checksum_of(std::span<const std::uint64_t> words,
                                        std::span<const std::byte> tuples) {
  const std::uint64_t of_words = XXH3_64bits(words.data(), words.size_bytes());
  return XXH3_64bits_withSeed(tuples.data(), tuples.size(), of_words);
}

/// FileBytes are the bytes of such a file: in the file, or in memory, where a memory node's copy of
/// the file was read to. They are borrowed.
class FileBytes {
 public:
  explicit FileBytes(const InputFile& file)
      : file_(&file), size_(file.size()), name_(fmt::format("'{}'", file.path())) {}
  FileBytes(std::span<const std::byte> bytes, std::string_view name)
      : bytes_(bytes), size_(bytes.size()), name_(name) {}

  std::uint64_t size() const { return size_; }
  /// Returns the file's name for messages.
  const std::string& name() const { return name_; }
  /// The bytes must be there, by size(). Throws what InputFile::read_at() throws.
  void read_at(std::uint64_t offset, void* out, std::size_t bytes) const {
    if (file_ != nullptr) return file_->read_at(offset, out, bytes);
    FARVEC_CHECK(offset <= bytes_.size() && bytes <= bytes_.size() - offset);
    if (bytes > 0) std::memcpy(out, bytes_.data() + offset, bytes);
  }

 private:
  const InputFile* file_ = nullptr;  ///< null: the bytes are in memory
  std::span<const std::byte> bytes_;
  std::uint64_t size_ = 0;
  std::string name_;
};

/// Reads the header of a file of `what`. Throws Error naming the file: it is truncated, another
/// file, of another version, or damaged.
template <typename Header>
Header read_sealed_header(const FileBytes& file, std::uint64_t magic, std::string_view what) {
  Header header;
  if (file.size() < sizeof(header)) {
    throw Error("{} is truncated: {} bytes cannot hold a header of {}: restore the file",
                file.name(), file.size(), sizeof(header));
  }
  file.read_at(0, &header, sizeof(header));
  if (header.magic != magic) {
    throw Error("{} is no file of {}: it begins with {:#018x}", file.name(), what, header.magic);
  }
  require_collection_version(header.format_version, file.name());
  if (header.header_checksum != header_checksum_of(header)) {
    throw Error("the header of {} is damaged: its checksum does not match; restore the file",
                file.name());
  }
  return header;
}

}  // namespace farvec::layout
