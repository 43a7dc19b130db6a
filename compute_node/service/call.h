// These functions do what the services of a compute node do with every call.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>

#include "base/clock.h"

namespace farvec::compute_node {

/// Returns the call's own deadline, at most an hour away, or the default when it has none.
Ticks deadline_of(const grpc::CallbackServerContext& context, std::chrono::milliseconds otherwise);

/// Adds to an answer with RESOURCE_EXHAUSTED why it was refused, and after which time it is worth
/// asking again.
void tell_refusal(grpc::CallbackServerContext& context, const char* why, Ticks retry_after);

/// Finishes a call that never waits.
grpc::ServerUnaryReactor* finish_now(grpc::CallbackServerContext& context,
                                     const grpc::Status& status);

}  // namespace farvec::compute_node
