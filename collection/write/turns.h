// Turns keep waiting threads in the order in which they came.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <set>

namespace farvec::collection {

/// Keeps the order. One mutex guards it: a caller of any function of it or of a Turn holds that.
class Turns {
 public:
  explicit Turns(std::condition_variable& next) : next_turn_(next) {}

 private:
  friend class Turn;
  std::condition_variable& next_turn_;  ///< told when a turn ends and others wait
  std::uint64_t next_ = 0;
  std::set<std::uint64_t> there_;
};

/// Is a place among the waiting threads until it is destroyed, wherever in the order it is then.
class Turn {
 public:
  explicit Turn(Turns& turns) : turns_(turns), number_(turns.next_) {
    turns_.there_.insert(number_);
    ++turns_.next_;
  }
  ~Turn() {
    turns_.there_.erase(number_);
    if (!turns_.there_.empty()) turns_.next_turn_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  bool has_come() const { return *turns_.there_.begin() == number_; }

 private:
  Turns& turns_;
  const std::uint64_t number_;
};

}  // namespace farvec::collection
