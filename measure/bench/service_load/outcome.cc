#include "measure/bench/service_load/outcome.h"

#include <limits>
#include <numeric>

#include "client/node_answers.h"
#include "client/remote_node.h"
#include "rpc/refusal.h"
#include "rpc/status.h"

namespace farvec::measure {
namespace {

/// Returns what is wrong with the answer to one query; "" when nothing is.
std::string fault_of_answer(const compute_node::v1::SearchResponse& response) {
  constexpr std::size_t kAnyK = std::numeric_limits<std::size_t>::max();
  std::string fault = client::fault_of(response, {1, kAnyK});
  if (!fault.empty() || response.results(0).status() == 0) return fault;
  const auto code = static_cast<grpc::StatusCode>(response.results(0).status());
  return rpc::describe({code, response.results(0).message()});
}

Outcome classify(const grpc::Status& status, const grpc::ClientContext& context,
                 const compute_node::v1::SearchResponse& response) {
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
      if (!fault_of_answer(response).empty()) return Outcome::failed;
      return Outcome::in_time;
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return Outcome::late;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return client::trailing_entry(context, rpc::kRefusalKey) == "too_late" ? Outcome::too_late
                                                                             : Outcome::queue_full;
    default:
      return Outcome::failed;
  }
}

}  // namespace

std::uint64_t LoadCounts::offered() const {
  return std::accumulate(queries.begin(), queries.end(), std::uint64_t{0});
}

Outcome LoadRecorder::ended(const grpc::Status& status, const grpc::ClientContext& context,
                            const compute_node::v1::SearchResponse& response,
                            std::chrono::steady_clock::duration latency) {
  Outcome outcome = classify(status, context, response);
  if (outcome == Outcome::in_time && latency > deadline_) outcome = Outcome::late;
  const std::lock_guard lock(mutex_);
  ++counts_.queries[static_cast<std::size_t>(outcome)];
  if (outcome == Outcome::in_time) {
    counts_.latency.add(us_to_ticks(std::chrono::duration<double, std::micro>(latency).count()));
  }
  if (outcome == Outcome::failed && counts_.first_failure.empty()) {
    counts_.first_failure = status.ok() ? fault_of_answer(response) : rpc::describe(status);
  }
  return outcome;
}

void LoadRecorder::unsent() {
  const std::lock_guard lock(mutex_);
  ++counts_.queries[static_cast<std::size_t>(Outcome::unsent)];
}

LoadCounts LoadRecorder::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace farvec::measure
