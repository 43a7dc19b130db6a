// A Replier answers finished batches on a thread of its own and not on the cores: serialising and
// sending cost more than a hop.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "compute_node/service/batch.h"

namespace farvec::compute_node {

/// A Replier is a thread that calls Batch::answer in the order in which batches finished, and then
/// destroys the batch. It has no bound of its own, because rpc::Server bounds the calls and their
/// memory.
class Replier {
 public:
  Replier();
  ~Replier();  ///< answers the batches that are left

  /// Takes the batch over. It may be called from any thread; it locks once, and wakes the thread
  /// when that sleeps.
  void push(Batch* batch);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable ready_;
  Batch* first_ = nullptr;
  Batch* last_ = nullptr;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace farvec::compute_node
