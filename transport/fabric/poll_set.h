// A PollSet waits for descriptors, each of which has a number.
#pragma once

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <span>

#include "base/error.h"

namespace farvec::transport {

/// Any thread may add and remove while another waits.
class PollSet {
 public:
  PollSet() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    if (epoll_ < 0) throw SystemError(errno, "making an epoll descriptor");
  }
  ~PollSet() { close(epoll_); }
  PollSet(const PollSet&) = delete;
  PollSet& operator=(const PollSet&) = delete;

  void add(int descriptor, std::uint64_t number) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = number;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) {
      throw SystemError(errno, "waiting for descriptor {}", descriptor);
    }
  }
  void remove(int descriptor) { (void)epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr); }
  /// Writes the numbers of the descriptors that are ready to the data of the first events; returns
  /// how many.
  std::size_t wait(std::span<epoll_event> events, int timeout_ms) {
    const int count =
        epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), timeout_ms);
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  }

 private:
  int epoll_;
};

}  // namespace farvec::transport
