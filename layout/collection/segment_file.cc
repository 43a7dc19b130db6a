#include "layout/collection/segment_file.h"

#include <xxhash.h>

#include <string_view>

#include "base/check.h"
#include "base/error.h"
#include "base/input_file.h"
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

void require_sound(const SegmentFileHeader& header, const std::string& path) {
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
                      const std::string& path) {
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

}  // namespace

void write_segment_file(const std::filesystem::path& path, SegmentFileHeader header,
                        std::span<const std::uint64_t> words) {
  FARVEC_CHECK(words.size() == header.words(), "{} words for {} rows", words.size(), header.rows);
  header.words_checksum = checksum_of(words);
  header.header_checksum = checksum_of(header);
  OutputFile file(path.string(), sizeof(header) + words.size_bytes());
  file.append(&header, sizeof(header));
  file.append(words.data(), words.size_bytes());
  file.commit();
}

std::vector<std::uint64_t> read_segment_file(const std::filesystem::path& path,
                                             const SegmentFileHeader& expected) {
  const InputFile file(path.string());
  if (file.size() < sizeof(SegmentFileHeader)) {
    throw Error("'{}' is truncated: {} bytes cannot hold a header of {}: restore the file",
                file.path(), file.size(), sizeof(SegmentFileHeader));
  }
  SegmentFileHeader header;
  file.read_at(0, &header, sizeof(header));
  require_sound(header, file.path());
  require_expected(header, expected, file.path());
  const std::uint64_t bytes = sizeof(header) + header.words() * sizeof(std::uint64_t);
  if (file.size() != bytes) {
    throw Error("'{}' has {} bytes, not the {} of the {} of {} rows: restore the file", file.path(),
                file.size(), bytes, in_words(header.kind), header.rows);
  }
  std::vector<std::uint64_t> words(header.words());
  file.read_at(sizeof(header), words.data(), words.size() * sizeof(std::uint64_t));
  if (checksum_of(words) != header.words_checksum) {
    throw Error("'{}' is damaged: the checksum of its {} does not match; restore the file",
                file.path(), in_words(header.kind));
  }
  return words;
}

}  // namespace farvec::layout
