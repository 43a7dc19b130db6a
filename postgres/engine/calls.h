// Calls are what processes ask of the engine except for searches: they may wait, on threads of
// their own. Inserts, which may wait long for room, have threads apart from all others.
#pragma once

#include "postgres/engine/indexes.h"
#include "postgres/engine/request.h"
#include <functional>
#include <memory>

namespace farvec::postgres {

/// Answers a request on this thread, which may wait for long. It does not throw.
void answer_call(Indexes& indexes, const Request& request);

/// Has a fixed number of threads. There are at most as many calls as the channel has slots.
class Calls {
 public:
  /// Borrows the indexes. Both kinds have `threads` threads.
  Calls(Indexes& indexes, unsigned threads);
  ~Calls();  ///< runs what was submitted
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  /// Takes a request and answers it later. Any thread may call it.
  void submit(Request request);
  /// Runs what may wait. It must not throw.
  void run(std::function<void()> work);

 private:
  struct Threads;

  Indexes& indexes_;
  std::unique_ptr<Threads> inserts_;
  std::unique_ptr<Threads> threads_;
};

}  // namespace farvec::postgres
