#include "measure/bench/service_load/closed_loop.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "measure/bench/service_load/load_loop.h"

namespace farvec::measure {
namespace {

namespace v1 = compute_node::v1;

/// A client looks at least this often whether it is to end.
constexpr std::chrono::milliseconds kLongestPause{100};

class ClosedLoop : LoadLoop {
 public:
  using LoadLoop::LoadLoop;

  LoadCounts run(std::uint32_t clients) {
    const auto start = Clock::now();
    const auto end = start + std::chrono::duration_cast<Clock::duration>(
                                 std::chrono::duration<double>(plan_.seconds));
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < clients; ++i) threads.emplace_back([this, end] { serve(end); });
    for (std::thread& thread : threads) thread.join();
    LoadCounts counts = recorder_.counts();
    counts.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return counts;
  }

 private:
  /// Runs one client until `end`.
  void serve(Clock::time_point end) {
    while (Clock::now() < end && !asked_to_end(plan_.interrupted)) {
      const auto pause = ask();
      std::this_thread::sleep_for(std::min(pause, kLongestPause));
    }
  }

  /// Asks one query and returns how long to wait before the next one.
  std::chrono::milliseconds ask() {
    // The order is relaxed: only that each gets another number matters.
    const auto request = queries_.request(next_.fetch_add(1, std::memory_order_relaxed));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + plan_.deadline);
    v1::SearchResponse response;
    const auto sent = Clock::now();
    const grpc::Status status = stub_.Search(&context, request, &response);
    const Outcome outcome = recorder_.ended(status, context, response, Clock::now() - sent);
    // A query that fails at once would fail as fast as the client can ask.
    if (outcome == Outcome::failed) return kLongestPause;
    return client::retry_after(context);
  }

  std::atomic<std::uint64_t> next_{0};
};

}  // namespace

LoadCounts run_closed_loop(v1::ComputeNode::Stub& stub, const QueryRing& queries,
                           const LoadPlan& plan, std::uint32_t clients) {
  return ClosedLoop(stub, queries, plan).run(clients);
}

}  // namespace farvec::measure
