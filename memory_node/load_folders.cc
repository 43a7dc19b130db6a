#include "memory_node/load_folders.h"

#include <algorithm>
#include <system_error>

#include "base/error.h"

namespace farvec::memory_node {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> without_links(const std::string& folder) {
  std::error_code error;
  fs::path path = fs::canonical(folder, error);
  if (error || !fs::is_directory(path, error)) return std::nullopt;
  return path;
}

bool lies_below(const fs::path& path, const fs::path& folder) {
  const auto [in_folder, in_path] =
      std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return in_folder == folder.end();
}

}  // namespace

LoadFolders::LoadFolders(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    const auto path = without_links(folder);
    if (!path) throw Error("--load-from '{}': there is no such folder", folder);
    folders_.push_back(*path);
  }
}

LoadFolders LoadFolders::around(const std::string& directory) {
  LoadFolders made;
  const auto path = without_links(directory);
  if (!path) return made;
  const bool is_top = path->parent_path() == path->root_path();
  made.folders_.push_back(is_top ? *path : path->parent_path());
  return made;
}

std::optional<std::string> LoadFolders::find(std::string_view path) const {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(fs::path(path), error);
  if (error) return std::nullopt;
  const bool below = std::ranges::any_of(
      folders_, [&real](const fs::path& folder) { return lies_below(real, folder); });
  if (!below) return std::nullopt;
  return real.string();
}

std::optional<std::string> LoadFolders::find_directory(std::string_view path) const {
  std::optional<std::string> found = find(path);
  if (!found) return found;
  std::error_code error;
  std::error_code ignored;  // an entry that cannot be examined is not read either
  for (fs::directory_iterator entry(*found, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (entry->is_symlink(ignored) && !find(entry->path().string())) return std::nullopt;
  }
  return found;
}

}  // namespace farvec::memory_node
