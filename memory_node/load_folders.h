// Where files may lie that callers have the node load.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace farvec::memory_node {

/// Folders of this machine, without links. A path is below one of them only when what it leads to
/// is, whatever its own name says.
class LoadFolders {
 public:
  LoadFolders() = default;  ///< none: nothing lies below them
  /// Throws Error naming a folder that is not there.
  explicit LoadFolders(const std::vector<std::string>& folders);
  /// The folder that the directory lies in, or the directory itself where that would be "/"; none
  /// where there is no such directory.
  static LoadFolders around(const std::string& directory);

  /// The path without links and dots when it lies below one of the folders, whether or not there is
  /// something; nothing else, and then nobody is to be told why.
  std::optional<std::string> find(std::string_view path) const;
  /// The same of a directory, which may have links to what lies below the folders, and to nothing
  /// else.
  std::optional<std::string> find_directory(std::string_view path) const;

 private:
  std::vector<std::filesystem::path> folders_;
};

}  // namespace farvec::memory_node
