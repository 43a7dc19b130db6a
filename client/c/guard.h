// guarded() is the boundary that no exception crosses.
#pragma once

#include <pthread.h>

#include <string_view>

#include "base/status.h"
#include "client/c/farvec.h"

namespace farvec::c {

/// Fills in `error`, unless it is null, and returns the status. A long message is cut.
farvec_status report(farvec_error* error, StatusCode code, std::string_view message) noexcept;

/// Does so for the exception that is being handled.
farvec_status report_thrown(farvec_error* error) noexcept;

/// A thread is not cancelled by pthread_cancel() while one lives: that would unwind through C.
class Uncancelled {
 public:
  Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_ = 0;
};

/// Runs `body`, and returns and reports how it ended.
template <typename Body>
farvec_status guarded(farvec_error* error, const Body& body) noexcept {
  const Uncancelled uncancelled;
  try {
    body();
    return report(error, StatusCode::ok, "");
  } catch (...) {
    return report_thrown(error);
  }
}

}  // namespace farvec::c
