#include "tests/e2e/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/error.h"

extern char** environ;

namespace farvec::tests {
namespace {

constexpr std::chrono::milliseconds kTick{5};

int to_exit_status(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::string program(const std::string& name) {
  return fmt::format("{}/{}", FARVEC_BIN_DIR, name);
}

ChildProcess::ChildProcess(std::vector<std::string> command) {
  output_path_ = (std::filesystem::temp_directory_path() / "farvec-output-XXXXXX").string();
  const int output = mkstemp(output_path_.data());
  if (output < 0) throw SystemError(errno, "making {}", output_path_);
  // A test that crashes runs no destructor.
  command.insert(command.begin(), {"/usr/bin/setpriv", "--pdeathsig", "KILL"});
  std::vector<char*> arguments;
  for (auto& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  const int error =
      posix_spawn(&pid_, command[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(output);
  if (error != 0) throw SystemError(error, "starting {}", command[0]);
}

ChildProcess::~ChildProcess() {
  if (!status_) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  unlink(output_path_.c_str());
}

void ChildProcess::signal(int number) const {
  if (!status_) kill(pid_, number);
}

std::optional<int> ChildProcess::wait(std::chrono::milliseconds bound) {
  const auto end = std::chrono::steady_clock::now() + bound;
  while (!status_) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      status_ = to_exit_status(status);
    } else if (std::chrono::steady_clock::now() > end) {
      return std::nullopt;
    } else {
      std::this_thread::sleep_for(kTick);
    }
  }
  return status_;
}

bool ChildProcess::wait_for_output(const std::string& text, std::chrono::milliseconds bound) {
  const auto end = std::chrono::steady_clock::now() + bound;
  while (std::chrono::steady_clock::now() < end) {
    const bool ended = wait(std::chrono::milliseconds(0)).has_value();
    if (output().find(text) != std::string::npos) return true;
    if (ended) return false;
    std::this_thread::sleep_for(kTick);
  }
  return false;
}

std::string ChildProcess::output() const {
  std::ostringstream text;
  text << std::ifstream(output_path_).rdbuf();
  return text.str();
}

}  // namespace farvec::tests
