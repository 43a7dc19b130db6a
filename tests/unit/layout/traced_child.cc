#include "tests/unit/layout/traced_child.h"

#include <fmt/format.h>
#include <linux/filter.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <vector>

#include "base/error.h"

namespace farvec::tests {
namespace {

constexpr long kCalls[] = {
    SYS_renameat, SYS_renameat2, SYS_unlinkat,  SYS_mkdirat, SYS_fsync,
    SYS_pwrite64, SYS_write,     SYS_ftruncate, SYS_linkat,
#ifdef SYS_rename
    SYS_rename,   SYS_unlink,    SYS_rmdir,     SYS_mkdir,
#endif
};

/// Stops at kCalls and at calls of openat() that make files; lets everything else through.
std::vector<sock_filter> make_filter(Exchange exchange) {
  std::vector<sock_filter> filter;
  const auto load = [&](std::size_t offset) {
    filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset)));
  };
  const auto answer = [&](unsigned value) { filter.push_back(BPF_STMT(BPF_RET | BPF_K, value)); };
  const auto skip_unless = [&](unsigned test, unsigned value, unsigned char statements) {
    filter.push_back(BPF_JUMP(BPF_JMP | test | BPF_K, value, 0, statements));
  };
  const auto load_call = [&] { load(offsetof(seccomp_data, nr)); };
  load_call();
  if (exchange == Exchange::missing) {
    skip_unless(BPF_JEQ, SYS_renameat2, 3);
    load(offsetof(seccomp_data, args[4]));
    skip_unless(BPF_JEQ, RENAME_EXCHANGE, 1);
    answer(SECCOMP_RET_ERRNO | EINVAL);
    load_call();
  }
  skip_unless(BPF_JEQ, SYS_openat, 3);
  load(offsetof(seccomp_data, args[2]));
  skip_unless(BPF_JSET, O_CREAT, 1);
  answer(SECCOMP_RET_TRACE);
  load_call();
  for (const long call : kCalls) {
    skip_unless(BPF_JEQ, static_cast<unsigned>(call), 1);
    answer(SECCOMP_RET_TRACE);
  }
  answer(SECCOMP_RET_ALLOW);
  return filter;
}

[[noreturn]] void run_child(const std::function<void()>& action, Exchange exchange) {
  std::vector<sock_filter> filter = make_filter(exchange);
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(2);
  raise(SIGSTOP);  // until the parent has said what it wants to see
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    _exit(2);
  }
  try {
    action();
  } catch (const std::exception& error) {
    fmt::print(stderr, "child: {}\n", error.what());
    _exit(1);
  }
  _exit(0);
}

}  // namespace

TracedChild::TracedChild(const std::function<void()>& action, Exchange exchange) : pid_(fork()) {
  if (pid_ == 0) run_child(action, exchange);
  if (pid_ < 0) throw SystemError(errno, "starting a child");
  wait();
  constexpr long kOptions = PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SETOPTIONS, pid_, nullptr, kOptions) != 0) {
    throw SystemError(errno, "tracing a child");
  }
}

TracedChild::~TracedChild() {
  kill();
}

void TracedChild::wait() {
  if (waitpid(pid_, &status_, 0) != pid_) throw SystemError(errno, "waiting for a child");
  if (!WIFSTOPPED(status_)) pid_ = -1;
}

bool TracedChild::next() {
  do {
    if (!next_call()) return false;
  } while (number_ == SYS_write && file_of_descriptor().rfind("pipe:", 0) == 0);
  return true;
}

bool TracedChild::next_call() {
  if (pid_ < 0) return false;
  if (ptrace(PTRACE_CONT, pid_, nullptr, nullptr) != 0) throw SystemError(errno, "a child's way");
  wait();
  if (pid_ < 0) return false;
  __ptrace_syscall_info call{};
  if (ptrace(PTRACE_GET_SYSCALL_INFO, pid_, sizeof(call), &call) <= 0) {
    throw SystemError(errno, "asking for a child's call");
  }
  number_ = static_cast<long>(call.seccomp.nr);
  argument_ = static_cast<long>(call.seccomp.args[0]);
  return true;
}

std::string TracedChild::file_of_descriptor() const {
  std::error_code error;
  return std::filesystem::read_symlink(fmt::format("/proc/{}/fd/{}", pid_, argument_), error);
}

int TracedChild::finish() {
  while (next()) {
  }
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
}

void TracedChild::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  while (pid_ > 0) wait();
}

}  // namespace farvec::tests
