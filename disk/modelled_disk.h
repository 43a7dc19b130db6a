// A ModelledDisk says when each request of a modelled disk ends. The queues of all threads share
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <queue>
#include <vector>

#include "disk/block_queue.h"
#include "disk/disk_model.h"

namespace farvec::disk {

/// Times are microseconds of one clock, whatever its zero is. Any thread may call everything.
class ModelledDisk {
 public:
  explicit ModelledDisk(DiskModel model);

  const DiskModel& model() const { return model_; }

  /// Takes a request that comes now, and returns when it ends. Requests are served in the order in
  /// which they come: a request waits for room in the disk, for the controller, and for the die of
  /// each of its pages. The link brings bytes in the order of requests, which may be before a die
  /// is done: so it limits the rate, and delays none for the die of another. A sync ends after all
  /// writes that came before it.
  double end_of(double now, const BlockRequest& request);

 private:
  /// What a request asks of the disk; `place` says which of the cores it is for.
  struct Access {
    DiskOperation operation = DiskOperation::read;
    std::uint32_t file = 0;
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0;
  };

  double serve(double now, const Access& access);
  double admit(double now);
  double read_or_write(double begin, const Access& access);
  std::uint64_t other_page();

  const DiskModel model_;
  std::mutex mutex_;  ///< guards all below
  std::vector<double> die_free_;
  double link_free_ = 0;
  double controller_free_ = 0;
  double written_ = 0;        ///< when the last write ends
  std::uint64_t others_ = 0;  ///< pages of other cores until now
  /// When the last `depth` requests end, the first on top.
  std::priority_queue<double, std::vector<double>, std::greater<>> inside_;
};

}  // namespace farvec::disk
