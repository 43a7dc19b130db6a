// These functions work on names of files and folders: they resolve them, rename, make folders, take
// locks, and make names outlive a loss of power.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace farvec {

/// Returns the one name of a file or folder, however it is spelled: absolute, without "." and "..",
/// without a slash at its end, and with its links followed as far as the path exists. So it still
/// means the same after a change of the working folder or of a link. An empty path stays empty.
/// What the system does not resolve (a loop of links, no right to look) is only made absolute.
std::filesystem::path settled_path(const std::filesystem::path& path);

/// Applies settled_path() to the folder that holds `path`; the last name stays unchanged, also when
/// it is a link.
std::filesystem::path settled_name(const std::filesystem::path& path);

/// Says whether bytes are UTF-8: a file name may be any bytes, but text that is sent or written has
/// to be UTF-8.
bool is_utf8(std::string_view bytes);

/// Returns the folder that holds `path`; "." for a bare name.
std::filesystem::path parent_of(const std::filesystem::path& path);

/// Syncs the folder, so that the names in it outlive a loss of power. Throws SystemError.
void sync_directory(const std::filesystem::path& path);

/// Gives `from` the name `to` in one step. A file or an empty folder of that name is replaced.
/// Throws SystemError.
void rename_path(const std::filesystem::path& from, const std::filesystem::path& to);

/// Swaps the names of two files or folders in one step. False where the file system cannot. Throws
/// SystemError.
bool exchange_paths(const std::filesystem::path& one, const std::filesystem::path& other);

/// Makes a folder and those above it that are missing. Throws SystemError, or Error where something
/// else has the name; then nothing that it made stays.
class NewFolders {
 public:
  explicit NewFolders(const std::filesystem::path& folder);

  /// Removes the folders that it made and that are empty, from the innermost on.
  void take_back() const noexcept;

 private:
  std::vector<std::filesystem::path> made_;  ///< outermost first
};

enum class FileLock {
  taken,
  held,  ///< another descriptor of any process has it
  none,  ///< this file system has no locks
};
/// Tries to take the exclusive lock of an open file or folder, which goes with the descriptor.
FileLock try_lock(int fd);

/// Says whether `path` itself, and no link of that name, is the open file.
bool is_file_at(int fd, const std::string& path);

}  // namespace farvec
