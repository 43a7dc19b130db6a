#include "coroutines/wait_group.h"

#include <utility>

namespace farvec::coroutines {

Status WaitGroup::wait(Ticks deadline) {
  waiter_ = scheduler_.running();
  FARVEC_CHECK(waiter_ != nullptr, "only a fiber can wait");
  bool in_time = true;
  while (pending_ > 0 && in_time) in_time = scheduler_.suspend_until(deadline);
  waiter_ = nullptr;
  if (pending_ > 0) return {StatusCode::deadline_exceeded, "reads did not complete in time"};
  return std::exchange(status_, {});
}

}  // namespace farvec::coroutines
