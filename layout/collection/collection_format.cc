#include "layout/collection/collection_format.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"

namespace farvec::layout {
namespace {

constexpr std::string_view kOutMark = ".out.";

std::optional<std::uint64_t> parse_decimal(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc() && result.ptr == end ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string segment_folder_name(std::uint64_t number) {
  return fmt::format("{:012}", number);
}

std::string out_file_name(std::uint64_t number, std::uint64_t version) {
  return fmt::format("{:012}{}{}", number, kOutMark, version);
}

std::optional<SegmentName> parse_segment_name(std::string_view name) {
  const std::size_t mark = name.find(kOutMark);
  const auto number = parse_decimal(name.substr(0, mark));
  if (!number) return std::nullopt;
  SegmentName parsed{*number};
  if (mark != std::string_view::npos) {
    parsed.out_version = parse_decimal(name.substr(mark + kOutMark.size()));
    if (!parsed.out_version) return std::nullopt;
  }
  const std::string made = parsed.out_version ? out_file_name(parsed.number, *parsed.out_version)
                                              : segment_folder_name(parsed.number);
  return made == name ? std::optional(parsed) : std::nullopt;
}

void require_collection_version(std::uint64_t version, std::string_view source) {
  if (version == kCollectionVersion) return;
  throw Error("{} has version {} of a collection's format, this farvec reads version {}: use {}",
              source, version, kCollectionVersion,
              version > kCollectionVersion ? "the farvec that wrote it, or a newer one"
                                           : "the farvec that wrote it");
}

}  // namespace farvec::layout
