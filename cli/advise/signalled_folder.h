// A SignalledFolder holds files that are not needed afterwards, also when a signal ends the
// process.
#pragma once

#include <csignal>
#include <filesystem>
#include <thread>

#include "measure/advise/scratch_folder.h"

namespace farvec::cli {

/// Makes a measure::ScratchFolder. That is also removed when SIGINT, SIGTERM or SIGHUP ends the
/// process, which then ends by that signal, like a process without this. Make it before every other
/// thread, so that all of them leave these signals to it. At most one exists at a time.
class SignalledFolder {
 public:
  /// Throws Error.
  explicit SignalledFolder(const std::filesystem::path& parent);
  ~SignalledFolder();
  SignalledFolder(const SignalledFolder&) = delete;
  SignalledFolder& operator=(const SignalledFolder&) = delete;

  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  /// These signals are blocked while this lives.
  class Blocked {
   public:
    Blocked();
    ~Blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    Blocked(const Blocked&) = delete;
    Blocked& operator=(const Blocked&) = delete;

    const sigset_t& signals() const { return signals_; }

   private:
    sigset_t signals_{};
    sigset_t before_{};  ///< the signals that the process blocked before
  };

  void watch(const std::stop_token& ended);

  const Blocked blocked_;
  const measure::ScratchFolder folder_;
  std::jthread watch_;
};

}  // namespace farvec::cli
