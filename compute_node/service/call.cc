#include "compute_node/service/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rpc/refusal.h"

namespace farvec::compute_node {
namespace {

constexpr std::chrono::hours kLongestDeadline{1};

}  // namespace

Ticks deadline_of(const grpc::CallbackServerContext& context, std::chrono::milliseconds otherwise) {
  using Clock = std::chrono::system_clock;
  std::chrono::duration<double, std::micro> left = otherwise;
  if (context.deadline() != Clock::time_point::max()) {
    left = std::min<std::chrono::duration<double, std::micro>>(context.deadline() - Clock::now(),
                                                               kLongestDeadline);
  }
  return now_ticks() + us_to_ticks(std::max(0.0, left.count()));
}

void tell_refusal(grpc::CallbackServerContext& context, const char* why, Ticks retry_after) {
  const double ms = std::ceil(ticks_to_us(retry_after) / 1e3);
  context.AddTrailingMetadata(rpc::kRetryAfterKey, fmt::format("{:.0f}", std::max(1.0, ms)));
  context.AddTrailingMetadata(rpc::kRefusalKey, why);
}

grpc::ServerUnaryReactor* finish_now(grpc::CallbackServerContext& context,
                                     const grpc::Status& status) {
  grpc::ServerUnaryReactor* reactor = context.DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

}  // namespace farvec::compute_node
