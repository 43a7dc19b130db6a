#include "layout/index/index_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file_names.h"
#include "base/input_file.h"
#include "base/output_file.h"
#include "layout/index/index_directory.h"
#include "layout/index/region_file.h"

namespace farvec::layout {
namespace {

namespace fs = std::filesystem;

constexpr int kMostNames = 1000;

std::string free_name(const fs::path& directory, const std::string& name) {
  std::string candidate = name;
  for (int number = 1; number <= kMostNames; ++number) {
    if (!fs::exists(fs::symlink_status(directory / candidate))) return candidate;
    candidate = fmt::format("{}.{}", name, number);
  }
  throw Error("'{}' has {} files called '{}': remove those that its manifest does not have",
              directory.string(), kMostNames, name);
}

/// A file that farvec did not make may have such a name, but it does not begin like a region.
bool begins_as_region(const fs::path& path) {
  if (!fs::is_regular_file(fs::symlink_status(path))) return false;
  const InputFile file(path);
  std::uint64_t magic = 0;
  if (file.size() < kRegionHeaderBytes) return false;
  file.read_at(0, &magic, sizeof(magic));
  return magic == RegionHeader::kMagic;
}

}  // namespace

bool is_region_name(std::string name) {
  const std::size_t dot = name.rfind('.');
  if (dot != std::string::npos && dot + 1 < name.size() &&
      name.find_first_not_of("0123456789", dot + 1) == std::string::npos) {
    name.resize(dot);
  }
  for (std::uint32_t kind = 1; kind <= kRegionKinds; ++kind) {
    if (name == region_file_name(static_cast<RegionKind>(kind))) return true;
  }
  return false;
}

void write_manifest(const fs::path& directory, const Manifest& manifest) {
  const std::string text = manifest_to_json(manifest);
  // A manifest that cannot be read back replaces nothing.
  (void)manifest_from_json(text, (directory / kManifestFile).string());
  OutputFile file(directory / kManifestFile, text.size());
  file.append(text.data(), text.size());
  file.commit();
}

void move_index(const fs::path& from, const fs::path& to, Manifest& manifest) {
  for (RegionEntry& region : manifest.regions) {
    const std::string name = free_name(to, region.file);
    rename_path(from / region.file, to / name);
    region.file = name;
  }
  sync_directory(to);  // a manifest must not outlive its regions
  write_manifest(to, manifest);
  remove_unused_regions(to, manifest);
}

void remove_unused_regions(const fs::path& directory, const Manifest& manifest) {
  std::vector<fs::path> unused;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename();
    const bool used = std::any_of(manifest.regions.begin(), manifest.regions.end(),
                                  [&](const RegionEntry& region) { return region.file == name; });
    if (!used && is_region_name(name) && begins_as_region(entry.path()))
      unused.push_back(entry.path());
  }
  for (const fs::path& path : unused) fs::remove(path);
}

}  // namespace farvec::layout
