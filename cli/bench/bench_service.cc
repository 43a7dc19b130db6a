// The command `farvec bench service` measures what a compute node answers in time under a load.
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "measure/bench/service_load/load_run.h"
#include "measure/report/measurement.h"
#include "rpc/tls_flags.h"

namespace farvec::cli {
namespace {

struct ServiceArguments {
  measure::LoadRun run;
  std::string rates;
  std::uint32_t clients = 0;
  std::uint32_t deadline_ms = 1'000;
  std::string json;
};

std::vector<measure::LoadPoint> load_points(const ServiceArguments& arguments) {
  if (arguments.rates.empty() == (arguments.clients == 0)) {
    throw Error("give either --rate, for queries that come at that rate, or --clients");
  }
  if (arguments.clients > 0) return {{.clients = arguments.clients}};
  std::vector<measure::LoadPoint> points;
  for (const std::uint32_t rate : measure::split_numbers(arguments.rates, "--rate")) {
    points.push_back({.rate = static_cast<double>(rate)});
  }
  return points;
}

void bench_service(ServiceArguments arguments) {
  arguments.run.points = load_points(arguments);
  arguments.run.plan.deadline = std::chrono::milliseconds(arguments.deadline_ms);
  arguments.run.plan.interrupted = interrupted;
  measure::JsonLines json(arguments.json);
  measure::Loads loads(std::move(arguments.run));
  const InterruptGuard watch;
  loads.run(json);
}

void add_search_options(Command& command, search::AskedSearch& parameters) {
  command.add_option("--k", parameters.k, "Neighbours wanted").show_default();
  command.add_option("--list", parameters.list, "L: candidates kept, at least k").show_default();
  command.add_option("--width", parameters.width, "W: records fetched per hop").show_default();
  command
      .add_option("--probe", parameters.probing.clusters,
                  "Cluster indexes only: most clusters to search")
      .show_default();
  command.add_option("--filter", parameters.filter,
                     "Collections only: condition that results meet");
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
  command.add_option("--seconds", a.run.plan.seconds, "Length of each load, in seconds")
      .range(0.01, 86'400.0)
      .show_default();
  command
      .add_option("--deadline-ms", a.deadline_ms,
                  "Milliseconds for each query, from when it was to be sent")
      .range(1, 60'000)
      .show_default();
  command
      .add_option("--max-inflight", a.run.plan.max_inflight,
                  "With --rate: queries that may be unanswered; more are not sent, and counted so")
      .range(1, 1 << 20)
      .show_default();
  command.add_option("--seed", a.run.plan.seed, "Random seed of the times of arrival")
      .show_default();
}

}  // namespace

void register_bench_service_command(Command& bench) {
  auto arguments = std::make_shared<ServiceArguments>();
  ServiceArguments& a = *arguments;
  Command command = bench.add_command(
      "service", "Measure what a compute node answers in time under a load: goodput, latency");
  command
      .add_option("--connect", a.run.node.address, "Compute node to ask: HOST:PORT or unix:/path")
      .required();
  command.add_option("--queries", a.run.queries, "Vector file, asked for in turn, one query a call")
      .required();
  add_load_options(command, a);
  add_search_options(command, a.run.parameters);
  command.add_flag("--quiet", a.run.quiet, "No progress");
  command.add_option("--json", a.json, "File for one JSON object per load and line");
  rpc::add_tls_flags(command, a.run.node.tls);
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
