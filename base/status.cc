#include "base/status.h"

namespace farvec {

std::string_view to_string(StatusCode code) {
  switch (code) {
    case StatusCode::ok:
      return "OK";
    case StatusCode::cancelled:
      return "CANCELLED";
    case StatusCode::invalid_argument:
      return "INVALID_ARGUMENT";
    case StatusCode::deadline_exceeded:
      return "DEADLINE_EXCEEDED";
    case StatusCode::not_found:
      return "NOT_FOUND";
    case StatusCode::permission_denied:
      return "PERMISSION_DENIED";
    case StatusCode::resource_exhausted:
      return "RESOURCE_EXHAUSTED";
    case StatusCode::failed_precondition:
      return "FAILED_PRECONDITION";
    case StatusCode::internal:
      return "INTERNAL";
    case StatusCode::unavailable:
      return "UNAVAILABLE";
    case StatusCode::data_loss:
      return "DATA_LOSS";
  }
  return "UNKNOWN";
}

}  // namespace farvec
