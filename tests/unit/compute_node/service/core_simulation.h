// A core with its queue in virtual time, for decisions that need no real one.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "base/random.h"
#include "compute_node/service/work_rate.h"

namespace farvec::compute_node {

/// Poisson arrivals at a core that serves 500,000 units of work a second, shared equally by the
/// searches in its slots.
struct SimulatedLoad {
  double rate = 0;  ///< searches a second
  double seconds = 0;
  double deadline_s = 0.05;
  std::size_t slots = 16;
  std::size_t queue = 1024;
  std::vector<WorkUnits> lengths = {100};                              ///< each as often
  std::function<double(double)> speed = [](double) { return 1.0; };    ///< of the core, by second
  std::function<double(double)> offered = [](double) { return 1.0; };  ///< share of the rate
  bool admit_by_time = true;  ///< else the queue alone bounds what waits
};

struct SimulatedOutcome {
  std::uint64_t offered = 0;
  std::uint64_t in_time = 0;
  std::uint64_t late = 0;  ///< served after their deadline
  std::uint64_t too_late = 0;
  std::uint64_t queue_full = 0;
  std::uint64_t expired = 0;  ///< before they had a slot
  double work_in_time = 0;
};

/// Decides as Engine and CoreFeed do, over steps of a hundredth of a millisecond.
class CoreSimulation {
 public:
  explicit CoreSimulation(const SimulatedLoad& load) : load_(load) {}

  SimulatedOutcome run() {
    const auto steps = static_cast<std::uint64_t>(load_.seconds / kStep);
    for (std::uint64_t step = 0; step < steps; ++step) {
      seconds_ = static_cast<double>(step) * kStep;
      arrive();
      serve(kWorkPerSecond * kStep * load_.speed(seconds_));
    }
    while (!queue_.empty() || !running_.empty()) {
      seconds_ += kStep;
      serve(kWorkPerSecond * kStep);
    }
    return outcome_;
  }

 private:
  struct Search {
    WorkUnits work = 0;
    Ticks started = 0;
    double left = 0;  ///< of the work
    double deadline = 0;
  };
  static constexpr double kStep = 1e-5;
  static constexpr double kWorkPerSecond = 500'000;

  static Ticks ticks(double seconds) { return us_to_ticks(seconds * 1e6); }
  Ticks now() const { return ticks(seconds_) + 1; }

  /// As many as a Poisson process has in a step (Knuth's way).
  void arrive() {
    const double none = std::exp(-load_.rate * load_.offered(seconds_) * kStep);
    for (double p = random_.uniform(); p > none; p *= random_.uniform()) admit();
  }

  void admit() {
    ++outcome_.offered;
    Search search;
    search.work = load_.lengths[random_.below(load_.lengths.size())];
    search.left = static_cast<double>(search.work);
    search.deadline = seconds_ + load_.deadline_s;
    const Ticks expected = work_ == 0 ? 0 : rate_.expected(work_ + search.work, now());
    if (load_.admit_by_time && comes_too_late(expected, ticks(load_.deadline_s))) {
      ++outcome_.too_late;
    } else if (queue_.size() == load_.queue) {
      ++outcome_.queue_full;
    } else {
      work_ += search.work;
      queue_.push_back(search);
    }
  }

  void serve(double work) {
    fill_slots();
    const double share = running_.empty() ? 0 : work / static_cast<double>(running_.size());
    for (Search& search : running_) search.left -= share;
    for (std::size_t i = 0; i < running_.size();) {
      if (running_[i].left > 0) {
        ++i;
        continue;
      }
      end(running_[i]);
      running_[i] = running_.back();
      running_.pop_back();
      fill_slots();
    }
  }

  void end(const Search& search) {
    const bool in_time = seconds_ <= search.deadline;
    ++(in_time ? outcome_.in_time : outcome_.late);
    if (in_time) outcome_.work_in_time += static_cast<double>(search.work);
    work_ -= search.work;
    running_work_ -= search.work;
    rate_.ended(search.work, static_cast<std::uint32_t>(running_.size()), search.started, now());
  }

  void fill_slots() {
    while (running_.size() < load_.slots && !queue_.empty()) {
      Search search = queue_.front();
      queue_.pop_front();
      if (has_time(search)) {
        search.started = now();
        rate_.took(now());
        running_.push_back(search);
        running_work_ += search.work;
        continue;
      }
      ++outcome_.expired;
      work_ -= search.work;
    }
    if (running_.size() < load_.slots) rate_.ran_dry();
  }

  bool has_time(const Search& search) const {
    if (search.deadline <= seconds_) return false;
    const Ticks left = ticks(search.deadline - seconds_);
    return !load_.admit_by_time || ends_in_time(rate_, running_work_, search.work, left, now());
  }

  const SimulatedLoad load_;
  SimulatedOutcome outcome_;
  Random random_{7};
  WorkRate rate_;
  std::deque<Search> queue_;
  std::vector<Search> running_;
  WorkUnits work_ = 0;
  WorkUnits running_work_ = 0;
  double seconds_ = 0;
};

inline SimulatedOutcome simulate(const SimulatedLoad& load) {
  return CoreSimulation(load).run();
}

}  // namespace farvec::compute_node
