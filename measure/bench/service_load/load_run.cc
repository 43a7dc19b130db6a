#include "measure/bench/service_load/load_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "base/progress.h"
#include "dataset/vector_set.h"
#include "measure/bench/service_load/closed_loop.h"
#include "measure/bench/service_load/open_loop.h"
#include "measure/report/machine.h"
#include "measure/ticker.h"

namespace farvec::measure {
namespace {

/// Shows how much of the time of all loads is over.
class LoadProgress {
 public:
  LoadProgress(double seconds, bool quiet)
      : total_(static_cast<std::uint64_t>(seconds * 1000)),
        progress_("milliseconds of load", total_, quiet),
        ticker_([this] { show(); }) {}

  void clear() { progress_.clear(); }

 private:
  using Clock = std::chrono::steady_clock;

  void show() {
    const auto passed =
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start_);
    const std::uint64_t now = std::min(total_, static_cast<std::uint64_t>(passed.count()));
    progress_.advance(now - shown_);
    shown_ = now;
  }

  const std::uint64_t total_;
  const Clock::time_point start_ = Clock::now();
  std::uint64_t shown_ = 0;
  Progress progress_;
  Ticker ticker_;
};

}  // namespace

Loads::Loads(LoadRun run)
    : run_(std::move(run)),
      queries_(dataset::load(run_.queries), run_.parameters),
      stub_(client::connect_to_node(run_.node)) {
  client::check_limits_of_node(*stub_, run_.node, run_.parameters);
}

void Loads::run(JsonLines& json) {
  const LoadFacts facts{host_description(), run_.node.address, run_.queries, run_.parameters,
                        run_.plan};
  const double seconds = static_cast<double>(run_.points.size()) * run_.plan.seconds;
  if (!run_.quiet) {
    fmt::print(stderr, "{} loads of {:g} s each: about {:.0f} s\n", run_.points.size(),
               run_.plan.seconds, seconds);
  }
  print_load_header();
  std::fflush(stdout);
  LoadProgress progress(seconds, run_.quiet);
  for (const LoadPoint& point : run_.points) {
    if (asked_to_end(run_.plan.interrupted)) break;
    const LoadCounts counts = point.clients > 0
                                  ? run_closed_loop(*stub_, queries_, run_.plan, point.clients)
                                  : run_open_loop(*stub_, queries_, run_.plan, point.rate);
    progress.clear();
    print_load_row(point, counts);
    std::fflush(stdout);
    if (!counts.first_failure.empty()) {
      fmt::print(stderr, "farvec: the first of {} that failed: {}\n", counts.of(Outcome::failed),
                 counts.first_failure);
    }
    json.append(load_json(facts, point, counts));
  }
  json.write();
}

}  // namespace farvec::measure
