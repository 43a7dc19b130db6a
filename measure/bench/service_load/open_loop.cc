#include "measure/bench/service_load/open_loop.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "base/random.h"
#include "measure/bench/service_load/load_loop.h"

namespace farvec::measure {
namespace {

namespace v1 = compute_node::v1;

/// Time between two looks at the signal.
constexpr std::chrono::milliseconds kLook{20};

class OpenLoop : LoadLoop {
 public:
  using LoadLoop::LoadLoop;

  LoadCounts run(double rate) {
    Random random(plan_.seed);
    const auto start = Clock::now();
    const auto wall_start = std::chrono::system_clock::now();
    double at_s = 0;
    for (std::uint64_t number = 0;; ++number) {
      at_s -= std::log(1 - random.uniform()) / rate;
      if (at_s >= plan_.seconds || !wait_until(start + seconds(at_s))) break;
      offer(number, start + seconds(at_s), wall_start + seconds(at_s));
    }
    const double offered_s = std::chrono::duration<double>(Clock::now() - start).count();
    await_answers();
    LoadCounts counts = recorder_.counts();
    counts.seconds =
        asked_to_end(plan_.interrupted) ? std::min(offered_s, plan_.seconds) : plan_.seconds;
    return counts;
  }

 private:
  struct Call {
    grpc::ClientContext context;
    v1::SearchRequest request;
    v1::SearchResponse response;
    Clock::time_point intended;
  };

  static std::chrono::nanoseconds seconds(double value) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(value * 1e9));
  }

  /// Returns false when the user wants the end.
  bool wait_until(Clock::time_point when) const {
    while (!asked_to_end(plan_.interrupted)) {
      const auto now = Clock::now();
      if (now >= when) return true;
      std::this_thread::sleep_until(std::min(when, now + kLook));
    }
    return false;
  }

  void offer(std::uint64_t number, Clock::time_point intended,
             std::chrono::system_clock::time_point wall) {
    if (Clock::now() >= intended + plan_.deadline || !take_place()) {
      recorder_.unsent();
      return;
    }
    auto* call = new Call;  // ended() owns it
    call->intended = intended;
    call->request = queries_.request(number);
    call->context.set_deadline(wall + plan_.deadline);
    stub_.async()->Search(
        &call->context, &call->request, &call->response,
        [this, call](const grpc::Status& status) { ended(std::unique_ptr<Call>(call), status); });
  }

  bool take_place() {
    const std::lock_guard lock(mutex_);
    if (inflight_ == plan_.max_inflight) return false;
    ++inflight_;
    return true;
  }

  /// Runs on any thread of gRPC.
  void ended(std::unique_ptr<Call> call, const grpc::Status& status) {
    recorder_.ended(status, call->context, call->response, Clock::now() - call->intended);
    call.reset();
    const std::lock_guard lock(mutex_);
    --inflight_;
    if (inflight_ == 0) all_ended_.notify_all();
  }

  /// Waits for all answers. Every call has a deadline, after which gRPC ends it.
  void await_answers() {
    std::unique_lock lock(mutex_);
    all_ended_.wait(lock, [this] { return inflight_ == 0; });
  }

  std::mutex mutex_;
  std::condition_variable all_ended_;
  std::uint32_t inflight_ = 0;
};

}  // namespace

LoadCounts run_open_loop(v1::ComputeNode::Stub& stub, const QueryRing& queries,
                         const LoadPlan& plan, double rate) {
  return OpenLoop(stub, queries, plan).run(rate);
}

}  // namespace farvec::measure
