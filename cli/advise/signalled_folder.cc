#include "cli/advise/signalled_folder.h"

namespace farvec::cli {
namespace {

constexpr timespec kTick{0, 50'000'000};

}  // namespace

SignalledFolder::Blocked::Blocked() {
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

SignalledFolder::SignalledFolder(const std::filesystem::path& parent)
    : folder_(parent, "--scratch"),
      watch_([this](const std::stop_token& ended) { watch(ended); }) {}

SignalledFolder::~SignalledFolder() {
  watch_.request_stop();
  watch_.join();  // it does not return when a signal has come
}

void SignalledFolder::watch(const std::stop_token& ended) {
  while (!ended.stop_requested()) {
    const int signal = sigtimedwait(&blocked_.signals(), nullptr, &kTick);
    if (signal <= 0) continue;
    folder_.remove();
    std::signal(signal, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &blocked_.signals(), nullptr);
    raise(signal);  // the signal comes to this thread, which alone does not block it
  }
}

}  // namespace farvec::cli
