// One call of the collection's service.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>

#include "base/clock.h"

namespace farvec::compute_node {

/// Why a call that nothing was wrong with was not served.
enum class ChangeRefusal : std::uint8_t { none, queue_full, no_room, too_late };
/// "queue_full", "no_room", "too_late"; empty for none.
const char* to_string(ChangeRefusal refusal);

/// What a call ends with.
struct Outcome {
  grpc::Status status;
  ChangeRefusal refusal = ChangeRefusal::none;
};

/// From arrival to OnDone; deletes itself.
class CollectionCall final : public grpc::ServerUnaryReactor {
 public:
  /// The answer is to go out by then.
  CollectionCall(grpc::CallbackServerContext& context, Ticks answer_by)
      : context_(context), answer_by_(answer_by) {}

  Ticks answer_by() const { return answer_by_; }
  /// Nobody waits for the answer. Any thread.
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  /// Once; nothing of the call, its request or its response is touched after it.
  void end(const Outcome& outcome, Ticks retry_after);

 private:
  void OnCancel() override { cancelled_.store(true, std::memory_order_relaxed); }
  void OnDone() override { delete this; }

  grpc::CallbackServerContext& context_;
  const Ticks answer_by_;
  std::atomic<bool> cancelled_{false};  ///< relaxed: saves work, orders nothing
};

}  // namespace farvec::compute_node
