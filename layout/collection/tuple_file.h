// These functions read and seal the files that have tuples beside a segment: a header, 64-bit words
// and the tuples.
#pragma once

#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

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

/// Reads the header of a file of `what`. Throws Error naming the file: it is truncated, another
/// file, of another version, or damaged.
template <typename Header>
Header read_sealed_header(const InputFile& file, std::uint64_t magic, std::string_view what) {
  Header header;
  if (file.size() < sizeof(header)) {
    throw Error("'{}' is truncated: {} bytes cannot hold a header of {}: restore the file",
                file.path(), file.size(), sizeof(header));
  }
  file.read_at(0, &header, sizeof(header));
  if (header.magic != magic) {
    throw Error("'{}' is no file of {}: it begins with {:#018x}", file.path(), what, header.magic);
  }
  require_collection_version(header.format_version, fmt::format("'{}'", file.path()));
  if (header.header_checksum != header_checksum_of(header)) {
    throw Error("the header of '{}' is damaged: its checksum does not match; restore the file",
                file.path());
  }
  return header;
}

}  // namespace farvec::layout
