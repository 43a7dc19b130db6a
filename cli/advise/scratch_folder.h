// A place for files that nobody needs afterwards.
#pragma once

#include <csignal>
#include <filesystem>
#include <thread>

namespace farvec::cli {

/// A new folder below `parent` that vanishes, with all that is in it, with this; also when SIGINT,
/// SIGTERM or SIGHUP ends the process, which then ends by that signal as it would have without.
/// Made before every other thread, so that all of them leave these signals to it; one at a time.
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
  sigset_t before_{};  ///< what the process blocked
  std::jthread watch_;
};

}  // namespace farvec::cli
