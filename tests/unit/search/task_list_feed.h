// A feed over a list of tasks that a test looks at afterwards.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "search/core/search_core.h"

namespace farvec::search {

/// Feeds tasks 0, 1, ... and keeps them. Each has room for 40 results; its query and parameters are
/// the test's to fill in.
class TaskListFeed : public TaskFeed {
 public:
  struct Task : SearchTask {
    std::uint64_t id_room[40];
    float distance_room[40];
  };

  /// A task's deadline is `deadline_us` after it was given.
  TaskListFeed(std::size_t count, double deadline_us)
      : tasks_(count), deadline_(us_to_ticks(deadline_us)) {
    for (Task& task : tasks_) {
      task.answer.ids = task.id_room;
      task.answer.distances = task.distance_room;
    }
  }

  SearchTask* next() override {
    if (given_ == tasks_.size()) return nullptr;
    tasks_[given_].request.deadline = now_ticks() + deadline_;
    return &tasks_[given_++];
  }
  bool finished() override { return given_ == tasks_.size(); }
  void done(SearchTask&) override { ++done_; }
  void idle() override {}

  std::vector<Task>& tasks() { return tasks_; }
  std::size_t done_count() const { return done_; }
  std::size_t count_status(StatusCode code) const {
    return static_cast<std::size_t>(std::count_if(tasks_.begin(), tasks_.end(), [&](const Task& t) {
      return t.answer.status.code() == code;
    }));
  }

 private:
  std::vector<Task> tasks_;
  const Ticks deadline_;
  std::size_t given_ = 0;
  std::size_t done_ = 0;
};

}  // namespace farvec::search
