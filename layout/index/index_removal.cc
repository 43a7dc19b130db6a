#include "layout/index/index_removal.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/input_file.h"
#include "layout/index/companion_file.h"
#include "layout/index/index_directory.h"
#include "layout/index/index_files.h"

namespace farvec::layout {
namespace {

namespace fs = std::filesystem;

/// The word that says what a manifest is comes near its beginning.
constexpr std::size_t kManifestStart = 4096;
constexpr std::string_view kManifestWord = "farvec-index";

/// The name without the ending that OutputFile adds while the file is written.
std::string_view whole_name(std::string_view name) {
  constexpr std::string_view kEnd = ".partial";
  constexpr std::size_t kDigits = 16;
  if (!name.ends_with(kEnd) || name.size() <= kEnd.size() + kDigits + 1) return name;
  name.remove_suffix(kEnd.size());
  const std::string_view digits = name.substr(name.size() - kDigits);
  if (digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) return name;
  return name.substr(0, name.size() - kDigits - 1);
}

/// Returns at most `most` bytes.
std::string start_of(const fs::path& path, std::size_t most) {
  const InputFile file(path.string());
  std::string bytes(std::min<std::uint64_t>(file.size(), most), '\0');
  file.read_at(0, bytes.data(), bytes.size());
  return bytes;
}

/// Whether the file begins with the word, or with zeros because it was not written to its end.
bool begins_with(const fs::path& path, std::uint64_t magic) {
  const std::string start = start_of(path, sizeof(magic));
  const bool zeros = start.find_first_not_of('\0') == std::string::npos;
  return zeros || start == std::string_view(reinterpret_cast<const char*>(&magic), sizeof(magic));
}

bool is_of_index(const fs::path& path) {
  if (!fs::is_regular_file(fs::symlink_status(path))) return false;
  const std::string name = path.filename().string();
  const std::string_view whole = whole_name(name);
  if (is_region_name(std::string(whole))) return begins_with(path, RegionHeader::kMagic);
  for (const CompanionFile& companion :
       {kSegmentIds, kSegmentAttributes, kIndexSchema, kSecondCopy}) {
    if (whole == companion.name) return begins_with(path, companion.magic);
  }
  if (whole == kManifestFile) return is_index_manifest(path) || fs::is_empty(path);
  return whole == kRegroupedFile && start_of(path, kManifestStart).starts_with(kRegroupedWords);
}

}  // namespace

bool is_index_manifest(const fs::path& file) {
  return fs::is_regular_file(fs::symlink_status(file)) &&
         start_of(file, kManifestStart).find(kManifestWord) != std::string::npos;
}

std::vector<std::string> remove_index_files(const fs::path& directory) {
  if (!fs::is_directory(fs::symlink_status(directory))) return {};
  std::vector<std::string> others;
  std::vector<fs::path> own;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (is_of_index(entry.path())) {
      own.push_back(entry.path());
    } else {
      others.push_back(entry.path().filename().string());
    }
  }
  for (const fs::path& path : own) fs::remove(path);
  std::sort(others.begin(), others.end());
  return others;
}

void remove_index_with_warning(const fs::path& directory) noexcept {
  try {
    if (!fs::is_directory(fs::symlink_status(directory))) return;
    const std::vector<std::string> others = remove_index_files(directory);
    if (others.empty()) return (void)fs::remove(directory);
    spdlog::warn("'{}' stays: '{}' in it is not farvec's", directory.string(), others.front());
  } catch (const std::exception& error) {
    spdlog::warn("cannot remove '{}': {}", directory.string(), error.what());
  }
}

}  // namespace farvec::layout
