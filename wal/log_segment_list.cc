#include "wal/log_segment_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "base/input_file.h"

namespace farvec::wal {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kDigits = 16;
constexpr std::string_view kSuffix = ".log";

bool is_segment_name(const std::string& name) {
  return name.size() == kDigits + kSuffix.size() && name.ends_with(kSuffix) &&
         name.find_first_not_of("0123456789abcdef") == kDigits;
}

std::vector<fs::path> segment_paths(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (is_segment_name(at->path().filename().string())) paths.push_back(at->path());
  }
  if (error) throw Error("reading the log's folder '{}': {}", folder.string(), error.message());
  std::sort(paths.begin(), paths.end());
  return paths;
}

void check_name(const LogSegment& segment) {
  const layout::LogSegmentHeader& header = segment.header;
  if (fs::path(segment.path).filename() != log_segment_name(header.number)) {
    throw Error(
        "'{}' is segment {} of its log: give it the name '{}', or restore the one it "
        "replaced",
        segment.path, header.number, log_segment_name(header.number));
  }
}

LogSegment read_segment(const fs::path& path) {
  const InputFile file(path.string());
  layout::LogHeaderBlock block{};
  const std::size_t there = std::min<std::uint64_t>(file.size(), block.size());
  file.read_at(0, block.data(), there);
  LogSegment segment{
      path.string(), file.size(),
      layout::decode_log_header(std::span(block).first(there), fmt::format("'{}'", path.string()))};
  check_name(segment);
  return segment;
}

}  // namespace

bool is_partial_segment(const std::string& name) {
  const std::size_t end = name.rfind(kPartialSuffix);
  return name.ends_with(kPartialSuffix) && is_segment_name(name.substr(0, end));
}

std::string log_segment_name(std::uint64_t number) {
  return fmt::format("{:016x}{}", number, kSuffix);
}

std::vector<LogSegment> list_log_segments(const fs::path& folder) {
  std::vector<LogSegment> segments;
  for (const fs::path& path : segment_paths(folder)) {
    try {
      segments.push_back(read_segment(path));
    } catch (const SystemError& error) {
      // The writer has cut it away since the folder was listed.
      if (error.code == ENOENT) continue;
      throw;
    }
    if (segments.size() > 1) check_neighbors(segments[segments.size() - 2], segments.back());
  }
  return segments;
}

void check_neighbors(const LogSegment& before, const LogSegment& after) {
  const layout::LogSegmentHeader& a = before.header;
  const layout::LogSegmentHeader& b = after.header;
  if (a.log_id != b.log_id) {
    throw Error(
        "'{}' is of another log than '{}': take it out of the folder, or restore the "
        "segment that it replaced",
        after.path, before.path);
  }
  if (a.number + 1 != b.number) {
    throw Error("'{}' is missing: '{}' and '{}' are there; restore it from a copy",
                (fs::path(after.path).parent_path() / log_segment_name(a.number + 1)).string(),
                before.path, after.path);
  }
  const std::uint64_t room = a.segment_bytes - layout::kLogHeaderBytes;
  if (b.previous_end < a.first || b.previous_end - a.first > room) {
    throw Error(
        "'{}' does not follow '{}': it says that the records before it end at {}, and "
        "they begin at {}; restore both from one copy",
        after.path, before.path, b.previous_end, a.first);
  }
}

void remove_log_segments(const fs::path& folder) {
  if (!fs::exists(folder)) return;
  std::vector<fs::path> own;
  for (const LogSegment& segment : list_log_segments(folder)) own.emplace_back(segment.path);
  bool others = false;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (is_partial_segment(name)) own.push_back(entry.path());
    others = others || !(is_partial_segment(name) || is_segment_name(name));
  }
  for (const fs::path& path : own) fs::remove(path);
  if (!others) fs::remove(folder);
}

}  // namespace farvec::wal
