// A CollectionCall is one call of the collection's service.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>

#include "base/clock.h"

namespace farvec::compute_node {

/// Says why a call that nothing was wrong with was not served.
enum class ChangeRefusal : std::uint8_t { none, queue_full, no_room, too_late };
/// Returns "queue_full", "no_room" or "too_late"; empty for none.
const char* to_string(ChangeRefusal refusal);

/// Says how a call ends.
struct Outcome {
  grpc::Status status;
  ChangeRefusal refusal = ChangeRefusal::none;
};

/// Lives from the call's arrival to OnDone(), then deletes itself.
class CollectionCall final : public grpc::ServerUnaryReactor {
 public:
  /// The answer is to go out by `answer_by`.
  CollectionCall(grpc::CallbackServerContext& context, Ticks answer_by)
      : context_(context), answer_by_(answer_by) {}

  Ticks answer_by() const { return answer_by_; }
  /// Returns whether the client no longer waits for the answer. Any thread may call it.
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  /// Answers the call. It is called once; nothing of the call, its request or its response may be
  /// touched after it.
  void end(const Outcome& outcome, Ticks retry_after);

 private:
  void OnCancel() override { cancelled_.store(true, std::memory_order_relaxed); }
  void OnDone() override { delete this; }

  grpc::CallbackServerContext& context_;
  const Ticks answer_by_;
  std::atomic<bool> cancelled_{false};  ///< relaxed: saves work, orders nothing
};

}  // namespace farvec::compute_node
