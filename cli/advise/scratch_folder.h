// Makes a folder for files that are not needed afterwards.
#pragma once

#include <csignal>
#include <filesystem>
#include <thread>

namespace farvec::cli {

/// Makes a new folder below `parent` and removes it, with all that is in it, together with this
/// object. The folder is also removed when SIGINT, SIGTERM or SIGHUP ends the process, which then
/// ends by that signal, like a process without this. Make it before every other thread, so that all
/// of them leave these signals to it. At most one exists at a time.
class ScratchFolder {
 public:
  /// Throws Error.
  explicit ScratchFolder(const std::filesystem::path& parent);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  void watch(const std::stop_token& ended);
  void remove() const;

  std::filesystem::path path_;
  sigset_t signals_{};
  sigset_t before_{};  ///< the signals that the process blocked before
  std::jthread watch_;
};

}  // namespace farvec::cli
