#include "layout/collection/collection_format.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"

namespace farvec::layout {
namespace {

constexpr std::string_view kOutMark = ".out.";
constexpr std::string_view kUpdatesMark = ".updates.";

std::optional<std::uint64_t> parse_decimal(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc() && result.ptr == end ? std::optional(number) : std::nullopt;
}

std::optional<std::uint64_t> version_after(std::string_view mark, std::string_view name) {
  const std::size_t at = name.find(mark);
  return at == std::string_view::npos ? std::nullopt : parse_decimal(name.substr(at + mark.size()));
}

}  // namespace

std::string segment_folder_name(std::uint64_t number) {
  return fmt::format("{:012}", number);
}

std::string out_file_name(std::uint64_t number, std::uint64_t version) {
  return fmt::format("{:012}{}{}", number, kOutMark, version);
}

std::string updates_file_name(std::uint64_t number, std::uint64_t version) {
  return fmt::format("{:012}{}{}", number, kUpdatesMark, version);
}

std::string SegmentName::text() const {
  if (out_version) return out_file_name(number, *out_version);
  if (update_version) return updates_file_name(number, *update_version);
  return segment_folder_name(number);
}

std::optional<SegmentName> parse_segment_name(std::string_view name) {
  const auto number = parse_decimal(name.substr(0, name.find('.')));
  if (!number) return std::nullopt;
  SegmentName parsed{*number};
  parsed.out_version = version_after(kOutMark, name);
  if (!parsed.out_version) parsed.update_version = version_after(kUpdatesMark, name);
  return parsed.text() == name ? std::optional(parsed) : std::nullopt;
}

void require_collection_version(std::uint64_t version, std::string_view source,
                                std::uint32_t newest) {
  if (version >= kCollectionVersion && version <= newest) return;
  throw Error(
      "{} has version {} of a collection's format, this farvec reads version {}: use {}", source,
      version, newest,
      version > newest ? "the farvec that wrote it, or a newer one" : "the farvec that wrote it");
}

}  // namespace farvec::layout
