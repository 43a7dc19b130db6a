// A ScratchFolder holds the small indexes of an advice, which are not needed afterwards.
#pragma once

#include <filesystem>
#include <string_view>

namespace farvec::measure {

/// Makes a new folder below `parent` and removes it, with all that is in it, together with this
/// object.
class ScratchFolder {
 public:
  /// Throws Error, which names the option that chooses another parent.
  ScratchFolder(const std::filesystem::path& parent, std::string_view option);
  ~ScratchFolder() { remove(); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Removes the folder at once. A thread that still writes into it finds no folder. Any thread may
  /// call it, one at a time. Calling it again changes nothing.
  void remove() const;

 private:
  std::filesystem::path path_;
};

}  // namespace farvec::measure
