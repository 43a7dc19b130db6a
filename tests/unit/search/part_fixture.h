// What whoever owns a scheduler does with the parts of it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <span>

#include "base/clock.h"
#include "coroutines/scheduler.h"
#include "search/core/core_part.h"

namespace farvec::search {

/// One search, in a fiber.
inline void search_now(CorePart& part, std::uint32_t slot, SearchTask& task,
                       double deadline_us = 5e6) {
  task.clock.started = now_ticks();
  task.request.deadline = task.clock.started + us_to_ticks(deadline_us);
  task.answer.status = part.search(slot, task.request, task.answer);
}

/// The poller of a scheduler that parts share.
inline bool poll_all(std::span<const std::unique_ptr<CorePart>> parts) {
  bool came = false;
  for (const auto& part : parts) came |= part->poll();
  return came;
}

}  // namespace farvec::search
