// Names of files and folders: who holds them, and that they outlive a loss of power.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace farvec {

/// The one name of a file or folder, however it is spelled: absolute, without "." and "..", without
/// a slash at its end, and with its links followed as far as there is something. So it means the
/// same after a change of the working folder, or of a link. An empty path stays empty, and what
/// the system does not resolve (a loop of links, no right to look) is made absolute alone.
std::filesystem::path settled_path(const std::filesystem::path& path);

/// As settled_path() of the folder that holds `path`; the last name stays as it is, also when it is
/// a link.
std::filesystem::path settled_name(const std::filesystem::path& path);

/// Names are any bytes; what is sent or written as text has to be UTF-8.
bool is_utf8(std::string_view bytes);

/// The folder that holds `path`; "." for a bare name.
std::filesystem::path parent_of(const std::filesystem::path& path);

/// Makes names in it outlive a loss of power. Throws SystemError.
void sync_directory(const std::filesystem::path& path);

/// Gives `from` the name `to`, in one step, in place of a file or an empty folder of that name.
/// Throws SystemError.
void rename_path(const std::filesystem::path& from, const std::filesystem::path& to);

/// Gives two files or folders each other's name in one step. False where the file system cannot.
/// Throws SystemError.
bool exchange_paths(const std::filesystem::path& one, const std::filesystem::path& other);

/// A folder, and those above it, of which some may have to be made. Throws SystemError, or Error
/// where something else has the name; then nothing that it made stays.
class NewFolders {
 public:
  explicit NewFolders(const std::filesystem::path& folder);

  /// Of those that were made: the ones that are empty go, from the innermost on.
  void take_back() const noexcept;

 private:
  std::vector<std::filesystem::path> made_;  ///< from the outermost on
};

enum class FileLock {
  taken,
  held,  ///< by another descriptor, of any process
  none,  ///< this file system has no locks
};
/// Tries to take the exclusive lock of an open file or folder, which goes with the descriptor.
FileLock try_lock(int fd);

/// Whether `path` itself, and no link of that name, is the open file.
bool is_file_at(int fd, const std::string& path);

}  // namespace farvec
