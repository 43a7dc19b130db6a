// A buffer of numbered things that keeps those touched last, for counts without an index.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

namespace farvec {

class RecentlyUsed {
 public:
  /// Things are numbered from 0 to `count` - 1; at least one is kept.
  RecentlyUsed(std::size_t count, std::size_t capacity)
      : capacity_(std::max<std::size_t>(capacity, 1)), places_(count, recent_.end()) {}

  /// Whether it was there. It is now; what was touched longest ago may be gone.
  bool touch(std::uint32_t thing) {
    if (places_[thing] != recent_.end()) {
      recent_.splice(recent_.begin(), recent_, places_[thing]);
      return true;
    }
    if (recent_.size() == capacity_) {
      places_[recent_.back()] = recent_.end();
      recent_.pop_back();
    }
    recent_.push_front(thing);
    places_[thing] = recent_.begin();
    return false;
  }

 private:
  const std::size_t capacity_;
  std::list<std::uint32_t> recent_;
  std::vector<std::list<std::uint32_t>::iterator> places_;
};

}  // namespace farvec
