#include "layout/collection/segment_file.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>

#include "base/check.h"
#include "base/error.h"
#include "base/input_file.h"
#include "base/memory.h"
#include "base/output_file.h"

namespace farvec::layout {
namespace {

std::uint64_t checksum_of(const SegmentFileHeader& header) {
  return XXH3_64bits(&header, offsetof(SegmentFileHeader, header_checksum));
}

std::uint64_t checksum_of(std::span<const std::uint64_t> words) {
  return XXH3_64bits(words.data(), words.size_bytes());
}

std::string_view in_words(SegmentFileKind kind) {
  return kind == SegmentFileKind::ids ? "ids" : "rows that are out";
}

void require_sound(const SegmentFileHeader& header, std::string_view path) {
  if (header.magic != SegmentFileHeader::kMagic) {
    throw Error("'{}' is no file of a collection's segment: it begins with {:#018x}", path,
                header.magic);
  }
  require_collection_version(header.format_version, fmt::format("'{}'", path));
  if (header.header_checksum != checksum_of(header)) {
    throw Error("the header of '{}' is damaged: its checksum does not match; restore the file",
                path);
  }
}

void require_expected(const SegmentFileHeader& header, const SegmentFileHeader& expected,
                      std::string_view path) {
  if (header.kind != expected.kind) {
    throw Error("'{}' does not hold the {} of a segment: restore the file", path,
                in_words(expected.kind));
  }
  const auto require = [&](const char* what, std::uint64_t is, std::uint64_t should_be) {
    if (is == should_be) return;
    throw Error("'{}' is of {} {}, the manifest has {}: restore the folder as a whole", path, what,
                is, should_be);
  };
  require("segment", header.segment, expected.segment);
  require("rows", header.rows, expected.rows);
  require("version", header.out_version, expected.out_version);
  require("rows that are out,", header.out_count, expected.out_count);
}

void seal(SegmentFileHeader& header, std::span<const std::uint64_t> words) {
  FARVEC_CHECK(words.size() == header.words(), "{} words for {} rows", words.size(), header.rows);
  header.words_checksum = checksum_of(words);
  header.header_checksum = checksum_of(header);
}

/// A file, or the bytes of one.
struct SegmentFileBytes {
  std::string_view source;
  std::uint64_t size = 0;
  std::function<void(std::uint64_t offset, void* to, std::size_t bytes)> read_at;
};

std::vector<std::uint64_t> read_words(const SegmentFileBytes& file,
                                      const SegmentFileHeader& expected) {
  std::array<std::byte, sizeof(SegmentFileHeader)> begin{};
  const auto there = std::span(begin).first(std::min<std::uint64_t>(file.size, begin.size()));
  file.read_at(0, there.data(), there.size());
  const SegmentFileHeader header = decode_segment_header(there, file.source);
  require_expected(header, expected, file.source);
  const std::uint64_t bytes = sizeof(header) + header.words() * sizeof(std::uint64_t);
  if (file.size != bytes) {
    throw Error("'{}' has {} bytes, not the {} of the {} of {} rows: restore the file", file.source,
                file.size, bytes, in_words(header.kind), header.rows);
  }
  std::vector<std::uint64_t> words(header.words());
  file.read_at(sizeof(header), words.data(), words.size() * sizeof(std::uint64_t));
  if (checksum_of(words) != header.words_checksum) {
    throw Error("'{}' is damaged: the checksum of its {} does not match; restore the file",
                file.source, in_words(header.kind));
  }
  return words;
}

}  // namespace

SegmentFileHeader decode_segment_header(std::span<const std::byte> begin, std::string_view source) {
  if (begin.size() < sizeof(SegmentFileHeader)) {
    throw Error("'{}' is truncated: {} bytes cannot hold a header of {}: restore the file", source,
                begin.size(), sizeof(SegmentFileHeader));
  }
  const auto header = load_unaligned<SegmentFileHeader>(begin.data());
  require_sound(header, source);
  return header;
}

void write_segment_file(const std::filesystem::path& path, SegmentFileHeader header,
                        std::span<const std::uint64_t> words) {
  seal(header, words);
  OutputFile file(path.string(), sizeof(header) + words.size_bytes());
  file.append(&header, sizeof(header));
  file.append(words.data(), words.size_bytes());
  file.commit();
}

std::vector<std::uint64_t> read_segment_file(const std::filesystem::path& path,
                                             const SegmentFileHeader& expected) {
  const InputFile file(path.string());
  return read_words({file.path(), file.size(),
                     [&file](std::uint64_t offset, void* to, std::size_t bytes) {
                       file.read_at(offset, to, bytes);
                     }},
                    expected);
}

std::vector<std::uint64_t> decode_segment_file(std::span<const std::byte> bytes,
                                               const SegmentFileHeader& expected,
                                               std::string_view source) {
  return read_words({source, bytes.size(),
                     [bytes](std::uint64_t offset, void* to, std::size_t count) {
                       std::memcpy(to, bytes.subspan(offset, count).data(), count);
                     }},
                    expected);
}

std::uint64_t segment_file_checksum(SegmentFileHeader header,
                                    std::span<const std::uint64_t> words) {
  seal(header, words);
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              XXH3_freeState);
  FARVEC_CHECK(state != nullptr);
  XXH3_64bits_reset(state.get());
  XXH3_64bits_update(state.get(), &header, sizeof(header));
  XXH3_64bits_update(state.get(), words.data(), words.size_bytes());
  return XXH3_64bits_digest(state.get());
}

}  // namespace farvec::layout
