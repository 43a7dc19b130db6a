// A FIFO that nobody writes to, where a file is expected.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <future>
#include <string>

#include "base/error.h"
#include "tests/unit/message_of.h"

namespace farvec::tests {

/// What `action` throws when there is a FIFO at `path`; "it waits" when it has not returned after
/// 20 seconds: a writer then lets it go.
inline std::string error_with_fifo(const std::string& path, const std::function<void()>& action) {
  if (mkfifo(path.c_str(), 0600) != 0) throw SystemError(errno, "making the FIFO '{}'", path);
  auto error = std::async(std::launch::async, [&] { return message_of(action); });
  if (error.wait_for(std::chrono::seconds(20)) == std::future_status::ready) return error.get();
  const int writer = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  error.wait();
  if (writer >= 0) close(writer);
  return "it waits";
}

}  // namespace farvec::tests
