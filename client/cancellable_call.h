// These functions make a call to a node that can be ended before the node has answered.
#pragma once

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/progress.h"

namespace farvec::client {

/// Time between two looks at an Interruption.
inline constexpr std::chrono::milliseconds kLook{20};

/// Makes a call that `stub.*prepare` begins, and returns how it ended. Once `cancelled` says so,
/// the call ends with CANCELLED unless it has ended already. `context` has the deadline, which
/// bounds the wait.
template <typename Stub, typename Prepare, typename Request, typename Response>
grpc::Status cancellable_call(Stub& stub, Prepare prepare, grpc::ClientContext& context,
                              const Request& request, const Interruption& cancelled,
                              Response& response) {
  grpc::CompletionQueue queue;
  grpc::Status status;
  const auto reader = (stub.*prepare)(&context, request, &queue);
  reader->StartCall();
  reader->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool done = false;
  const auto look = [] { return std::chrono::system_clock::now() + kLook; };
  while (queue.AsyncNext(&tag, &done, look()) == grpc::CompletionQueue::TIMEOUT) {
    if (asked_to_end(cancelled)) context.TryCancel();
  }
  return status;
}

/// Sleeps so long, or until `cancelled` says so.
inline void cancellable_pause(std::chrono::milliseconds pause, const Interruption& cancelled) {
  const auto end = std::chrono::steady_clock::now() + pause;
  for (auto now = end - pause; now < end && !asked_to_end(cancelled);
       now = std::chrono::steady_clock::now()) {
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(kLook, end - now));
  }
}

}  // namespace farvec::client
