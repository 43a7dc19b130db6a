// Answers finished batches away from the cores: serialising and sending cost more than a hop.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "compute_node/service/batch.h"

namespace farvec::compute_node {

/// One thread that calls Batch::answer in the order in which batches finished, then destroys the
/// batch. Unbounded by itself: rpc::Server bounds the calls and their memory.
class Replier {
 public:
  Replier();
  ~Replier();  ///< answers what is left

  /// Takes the batch over. Any thread; locks once, wakes the thread when it sleeps.
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
