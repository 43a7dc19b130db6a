// A Handle is what a Python object keeps open until it is closed.
#pragma once

#include <unistd.h>

#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/status_error.h"

namespace farvec::python {

/// Keeps something open for several threads. A call that is under way keeps what was open, also
/// when another thread closes it meanwhile.
template <typename Open>
class Handle {
 public:
  /// `what` names in messages what is open; the text must outlive this.
  Handle(std::shared_ptr<Open> open, std::string_view what)
      : what_(what), process_(getpid()), open_(std::move(open)) {}
  ~Handle() {
    // A child of fork() has its memory but none of its threads: there is nothing to end.
    if (getpid() != process_) new std::shared_ptr<Open>(std::move(open_));
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  /// Throws StatusError (failed_precondition) when it is closed, or was opened before a fork.
  std::shared_ptr<Open> get() const {
    if (getpid() != process_) {
      throw StatusError(StatusCode::failed_precondition,
                        "the {} was opened by process {}, and this is {}, its child: open it after "
                        "the fork",
                        what_, process_, getpid());
    }
    const std::lock_guard lock(mutex_);
    if (open_ == nullptr) {
      throw StatusError(StatusCode::failed_precondition, "the {} is closed", what_);
    }
    return open_;
  }

  /// Gives up what is open; the caller destroys it. Returns null when it was closed, or is another
  /// process's.
  std::shared_ptr<Open> take() {
    if (getpid() != process_) return nullptr;
    const std::lock_guard lock(mutex_);
    return std::exchange(open_, nullptr);
  }

  bool is_closed() const {
    if (getpid() != process_) return true;
    const std::lock_guard lock(mutex_);
    return open_ == nullptr;
  }

 private:
  const std::string_view what_;
  const pid_t process_;
  mutable std::mutex mutex_;
  std::shared_ptr<Open> open_;
};

}  // namespace farvec::python
