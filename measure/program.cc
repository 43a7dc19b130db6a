#include "measure/program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "base/error.h"

namespace farvec::measure {
namespace {

using Clock = std::chrono::steady_clock;

/// Holds a started program and the end of the pipe that it writes to. The destructor kills the
/// program when it still runs.
class Program {
 public:
  explicit Program(const std::vector<std::string>& command) {
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw SystemError(errno, "making a pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    const int error =
        posix_spawnp(&process_, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    output_ = ends[0];
    if (error == 0) return;
    close(output_);
    throw SystemError(error, "starting '{}'", command.front());
  }
  ~Program() {
    close(output_);
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    (void)wait();
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Reads everything until the program closes its output; returns false when that takes longer
  /// than until `end`.
  bool read_all(std::string& output, Clock::time_point end) {
    char buffer[4096];
    while (true) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
      pollfd waiting{output_, POLLIN, 0};
      const int ready = poll(&waiting, 1, static_cast<int>(std::clamp<long>(left, 0, 1'000'000)));
      if (ready == 0) return false;
      const ssize_t got = ready < 0 ? -1 : read(output_, buffer, sizeof(buffer));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw SystemError(errno, "reading a program's output");
      if (got == 0) return true;
      output.append(buffer, static_cast<std::size_t>(got));
    }
  }

  int wait() {
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t process_ = 0;
  int output_ = -1;
};

}  // namespace

ProgramResult run_program(const std::vector<std::string>& command, double limit_ms) {
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double, std::milli>(limit_ms));
  Program program(command);
  ProgramResult result;
  if (!program.read_all(result.output, end)) {
    throw Error("'{}' did not end within {} s and was killed", command.front(), limit_ms / 1e3);
  }
  result.status = program.wait();
  return result;
}

}  // namespace farvec::measure
