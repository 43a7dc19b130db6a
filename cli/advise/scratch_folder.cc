#include "cli/advise/scratch_folder.h"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "base/error.h"

namespace farvec::cli {
namespace {

namespace fs = std::filesystem;

constexpr timespec kTick{0, 50'000'000};

}  // namespace

ScratchFolder::ScratchFolder(const fs::path& parent) {
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  std::string pattern = (parent / "farvec-advise-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    throw SystemError(error,
                      "cannot make a folder like '{}' for small indexes: choose another "
                      "place with --scratch",
                      pattern);
  }
  path_ = pattern;
  watch_ = std::jthread([this](const std::stop_token& ended) { watch(ended); });
}

ScratchFolder::~ScratchFolder() {
  watch_.request_stop();
  watch_.join();  // it does not return when a signal has come
  remove();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void ScratchFolder::watch(const std::stop_token& ended) {
  while (!ended.stop_requested()) {
    const int signal = sigtimedwait(&signals_, nullptr, &kTick);
    if (signal <= 0) continue;
    remove();
    std::signal(signal, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
    raise(signal);  // the signal comes to this thread, which alone does not block it
  }
}

void ScratchFolder::remove() const {
  // It is renamed first: a thread that still writes below the old name finds no folder.
  std::error_code error;
  fs::path gone = path_;
  gone += "-gone";
  fs::rename(path_, gone, error);
  fs::remove_all(error ? path_ : gone, error);
}

}  // namespace farvec::cli
