// A Status is the outcome of an operation on the data path, where nothing throws.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

#include "base/check.h"

namespace farvec {

/// A StatusCode is in the subset of gRPC's codes that a search or a call of the control plane can
/// end with; the numbers are gRPC's.
enum class StatusCode : std::uint8_t {
  ok = 0,
  cancelled = 1,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  internal = 13,
  unavailable = 14,
  data_loss = 15,
};

std::string_view to_string(StatusCode code);

/// A Status is a code and a message with static storage: cheap to return and to copy, allocates
/// nothing.
class [[nodiscard]] Status {
 public:
  constexpr Status() = default;
  constexpr Status(StatusCode code, const char* message) : message_(message), code_(code) {}

  constexpr bool ok() const { return code_ == StatusCode::ok; }
  constexpr StatusCode code() const { return code_; }
  constexpr const char* message() const { return message_; }

 private:
  const char* message_ = "";
  StatusCode code_ = StatusCode::ok;
};

/// A Result is a value, or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::move(value)) {}
  Result(Status status) : content_(status) {
    FARVEC_CHECK(!status.ok(), "a Result without a value needs an error");
  }

  bool ok() const { return content_.index() == 0; }
  Status status() const { return ok() ? Status() : std::get<1>(content_); }
  T& value() & {
    FARVEC_CHECK(ok(), "{}", status().message());
    return std::get<0>(content_);
  }
  const T& value() const& {
    FARVEC_CHECK(ok(), "{}", status().message());
    return std::get<0>(content_);
  }
  T&& value() && {
    FARVEC_CHECK(ok(), "{}", status().message());
    return std::get<0>(std::move(content_));
  }

 private:
  std::variant<T, Status> content_;
};

}  // namespace farvec
