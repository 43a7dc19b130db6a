// LoadFolders know the folders from which callers may have the node load files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace farvec::memory_node {

/// Folders of this machine, without links. A path is below one of them only when the place that it
/// leads to is, whatever its own name says.
class LoadFolders {
 public:
  LoadFolders() = default;  ///< without folders: no path is below them
  /// Throws Error naming a folder that does not exist.
  explicit LoadFolders(const std::vector<std::string>& folders);
  /// Returns the folder that contains the directory, or the directory itself where that would be
  /// "/"; no folders where there is no such directory.
  static LoadFolders around(const std::string& directory);

  /// Returns the path without links and dots when it is below one of the folders, whether or not
  /// there is a file. Otherwise it returns nothing, and then no client may be told why.
  std::optional<std::string> find(std::string_view path) const;
  /// Returns the same for a directory, which may have links to what is below the folders, and to
  /// nothing else.
  std::optional<std::string> find_directory(std::string_view path) const;

 private:
  std::vector<std::filesystem::path> folders_;
};

}  // namespace farvec::memory_node
