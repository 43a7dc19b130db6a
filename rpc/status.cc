#include "rpc/status.h"

#include <fmt/format.h>

namespace farvec::rpc {

grpc::Status to_grpc(const Status& status) {
  return to_grpc(status.code(), status.message());
}

grpc::Status to_grpc(StatusCode code, const std::string& message) {
  if (code == StatusCode::ok) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(code), message};
}

StatusCode to_status_code(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::OK:
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::NOT_FOUND:
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::INTERNAL:
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DATA_LOSS:
      return static_cast<StatusCode>(code);
    case grpc::StatusCode::OUT_OF_RANGE:
      return StatusCode::invalid_argument;
    case grpc::StatusCode::UNAUTHENTICATED:
      return StatusCode::permission_denied;
    case grpc::StatusCode::ABORTED:
    case grpc::StatusCode::ALREADY_EXISTS:
      return StatusCode::failed_precondition;
    default:
      return StatusCode::internal;
  }
}

std::string describe(const grpc::Status& status) {
  const std::string_view code = to_string(to_status_code(status.error_code()));
  if (status.ok() || status.error_message().empty()) return std::string(code);
  return fmt::format("{}: {}", code, status.error_message());
}

}  // namespace farvec::rpc
