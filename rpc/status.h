// Converts an outcome between farvec's and gRPC's codes.
#pragma once

#include <grpcpp/support/status.h>

#include <string>

#include "base/status.h"

namespace farvec::rpc {

/// The codes share their numbers; an ok status has no message.
grpc::Status to_grpc(const Status& status);
grpc::Status to_grpc(StatusCode code, const std::string& message);

/// gRPC codes that farvec does not use become `internal`, except those that a client causes, which
/// become `invalid_argument` (OUT_OF_RANGE), `permission_denied` (UNAUTHENTICATED) or
/// `failed_precondition` (ABORTED, ALREADY_EXISTS).
StatusCode to_status_code(grpc::StatusCode code);

/// Returns text for messages to people: "UNAVAILABLE: connection refused".
std::string describe(const grpc::Status& status);

}  // namespace farvec::rpc
