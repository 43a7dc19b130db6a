// farvec bench service: what a compute node answers in time under a load.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "base/progress.h"
#include "cli/bench/service_load/closed_loop.h"
#include "cli/bench/service_load/open_loop.h"
#include "cli/bench/service_load/report.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/report/machine.h"
#include "cli/report/measurement.h"
#include "cli/ticker.h"
#include "rpc/tls_flags.h"

namespace farvec::cli {
namespace {

struct ServiceArguments {
  client::NodeAccess node;
  std::string queries;
  std::string rates;
  std::uint32_t clients = 0;
  std::uint32_t deadline_ms = 1'000;
  search::AskedSearch parameters;
  LoadPlan plan;
  std::string json;
  bool quiet = false;
};

/// How much of the time of all loads is over.
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

std::vector<LoadPoint> load_points(const ServiceArguments& arguments) {
  if (arguments.rates.empty() == (arguments.clients == 0)) {
    throw Error("give either --rate, for queries that come at that rate, or --clients");
  }
  if (arguments.clients > 0) return {{.clients = arguments.clients}};
  std::vector<LoadPoint> points;
  for (const std::uint32_t rate : split_numbers(arguments.rates, "--rate")) {
    points.push_back({.rate = static_cast<double>(rate)});
  }
  return points;
}

void bench_service(ServiceArguments arguments) {
  const std::vector<LoadPoint> points = load_points(arguments);
  arguments.plan.deadline = std::chrono::milliseconds(arguments.deadline_ms);
  JsonLines json(arguments.json);
  const QueryRing queries(dataset::load(arguments.queries), arguments.parameters);
  const auto stub = client::connect_to_node(arguments.node);
  client::check_limits_of_node(*stub, arguments.node, arguments.parameters);
  const LoadFacts facts{host_description(), arguments.node.address, arguments.queries,
                        arguments.parameters, arguments.plan};
  const InterruptGuard interrupt;
  const double seconds = static_cast<double>(points.size()) * arguments.plan.seconds;
  if (!arguments.quiet) {
    fmt::print(stderr, "{} loads of {:g} s each: about {:.0f} s\n", points.size(),
               arguments.plan.seconds, seconds);
  }
  print_load_header();
  std::fflush(stdout);
  LoadProgress progress(seconds, arguments.quiet);
  for (const LoadPoint& point : points) {
    if (interrupted()) break;
    const LoadCounts counts = point.clients > 0
                                  ? run_closed_loop(*stub, queries, arguments.plan, point.clients)
                                  : run_open_loop(*stub, queries, arguments.plan, point.rate);
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

void add_search_options(Command& command, search::AskedSearch& parameters) {
  command.add_option("--k", parameters.k, "Neighbours wanted").show_default();
  command.add_option("--list", parameters.list, "L: candidates kept, at least k").show_default();
  command.add_option("--width", parameters.width, "W: records fetched per hop").show_default();
  command
      .add_option("--probe", parameters.probing.clusters,
                  "Cluster indexes only: most clusters to search")
      .show_default();
}

void add_load_options(Command& command, ServiceArguments& a) {
  command.add_option(
      "--rate", a.rates,
      "Queries a second, e.g. 1000,2000: measured one after the other. They come as\n"
      "a Poisson process and do not wait for answers (open loop)");
  command
      .add_option("--clients", a.clients,
                  "Clients that each wait for an answer before they ask again (closed loop); a\n"
                  "refused one waits as long as the node says")
      .range(1, 4'096);
  command.add_option("--seconds", a.plan.seconds, "Length of each load, in seconds")
      .range(0.01, 86'400.0)
      .show_default();
  command
      .add_option("--deadline-ms", a.deadline_ms,
                  "Milliseconds for each query, from when it was to be sent")
      .range(1, 60'000)
      .show_default();
  command
      .add_option("--max-inflight", a.plan.max_inflight,
                  "With --rate: queries that may be unanswered; more are not sent, and counted so")
      .range(1, 1 << 20)
      .show_default();
  command.add_option("--seed", a.plan.seed, "Random seed of the times of arrival").show_default();
}

}  // namespace

void register_bench_service_command(Command& bench) {
  auto arguments = std::make_shared<ServiceArguments>();
  ServiceArguments& a = *arguments;
  Command command = bench.add_command(
      "service", "Measure what a compute node answers in time under a load: goodput, latency");
  command.add_option("--connect", a.node.address, "Compute node to ask: HOST:PORT or unix:/path")
      .required();
  command.add_option("--queries", a.queries, "Vector file, asked for in turn, one query a call")
      .required();
  add_load_options(command, a);
  add_search_options(command, a.parameters);
  command.add_flag("--quiet", a.quiet, "No progress");
  command.add_option("--json", a.json, "File for one JSON object per load and line");
  rpc::add_tls_flags(command, a.node.tls);
  command.footer(
      "A latency begins when the query was to be sent, not when a busy client came to send it;\n"
      "percentiles are of the answers in time. Goodput: answers in time a second. Refused by the\n"
      "node: \"too late\" when it expected to answer after the deadline, \"queue full\". Unsent: "
      "the\n"
      "client could not send them, so that the row does not tell what the node can do. SIGINT "
      "ends\n"
      "the measurement and prints what there is.\n"
      "Example:\n"
      "  farvec bench service --connect 127.0.0.1:7711 --queries query.u8bin --k 10 --list 60 \\\n"
      "    --rate 1000,2000,4000,8000 --deadline-ms 50 --json service.json");
  command.callback([arguments] { bench_service(*arguments); });
}

}  // namespace farvec::cli
