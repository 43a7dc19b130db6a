// One fiber that reads through a dispatcher.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "coroutines/scheduler.h"
#include "search/lanes/read_dispatcher.h"

namespace farvec::search {

/// Until it ends; the dispatcher is polled.
inline void run_in_fiber(coroutines::Scheduler& scheduler, ReadDispatcher& dispatcher,
                         const std::function<void()>& body) {
  scheduler.set_poller([&dispatcher] { return dispatcher.poll(); });
  ASSERT_TRUE(scheduler.spawn(body).ok());
  scheduler.run();
}

}  // namespace farvec::search
