// What the services of a compute node do with every call.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>

#include "base/clock.h"

namespace farvec::compute_node {

/// The call's own deadline, at most an hour away, or the default when it has none.
Ticks deadline_of(const grpc::CallbackServerContext& context, std::chrono::milliseconds otherwise);

/// To be sent with RESOURCE_EXHAUSTED: why, and after which time it is worth to ask again.
void tell_refusal(grpc::CallbackServerContext& context, const char* why, Ticks retry_after);

/// For calls that never wait.
grpc::ServerUnaryReactor* finish_now(grpc::CallbackServerContext& context,
                                     const grpc::Status& status);

}  // namespace farvec::compute_node
