// A daemon under test: started, watched and ended within bounds.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace farvec::tests {

/// Path of a program of this build.
std::string program(const std::string& name);

/// Output of both streams goes to a file in the temporary folder. The destructor kills what still
/// runs, and the end of the thread that made this does too, so that no test leaves a process
/// behind.
class ChildProcess {
 public:
  /// command[0] is the path. Throws Error when it cannot be started.
  explicit ChildProcess(std::vector<std::string> command);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  void signal(int number) const;
  /// Exit status, or 128 + the signal that ended it; nothing when it still runs after `bound`.
  std::optional<int> wait(std::chrono::milliseconds bound = std::chrono::seconds(60));
  /// True as soon as the output holds `text`; false when `bound` passes or the process ends first.
  bool wait_for_output(const std::string& text,
                       std::chrono::milliseconds bound = std::chrono::seconds(60));
  std::string output() const;

 private:
  std::string output_path_;
  pid_t pid_ = -1;
  std::optional<int> status_;
};

}  // namespace farvec::tests
