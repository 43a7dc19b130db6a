// The command `farvec bench`, and its subcommand `transport`, which measures what a tier gives to
// reads, without an index or a search.
#include <memory>
#include <string>

#include "base/command_line.h"
#include "base/error.h"
#include "base/option_rules.h"
#include "base/quantity.h"
#include "cli/commands.h"
#include "measure/bench/transport_bench.h"
#include "measure/report/measurement.h"
#include "rpc/tls_flags.h"

namespace farvec::cli {
namespace {

struct BenchArguments {
  std::string tiers = "dram";
  std::string payloads = "64,256,4096";
  std::string inflights = "1,16,128";
  std::string mixes = "0%";
  std::string threads = "1";
  std::string batches;
  std::string signal = "last";
  std::string doorbell = "batch";
  std::uint64_t bytes = 256u << 20;
  std::uint64_t seed = 1;
  std::uint32_t passes = 5;
  double pass_ms = 300;
  std::string json;
  rpc::TlsFiles tls;
};

measure::BenchAxes read_axes(const BenchArguments& arguments) {
  measure::BenchAxes axes;
  axes.threads = measure::split_numbers(arguments.threads, "--threads");
  axes.payloads = measure::split_payloads(arguments.payloads);
  axes.inflights = measure::split_numbers(arguments.inflights, "--inflight");
  if (!arguments.batches.empty())
    axes.batches = measure::split_numbers(arguments.batches, "--batch");
  axes.mixes = measure::split_shares(arguments.mixes, "--mix");
  return axes;
}

std::vector<transport::VerbsTuning> tunings(const BenchArguments& arguments) {
  std::vector<transport::VerbsTuning> all;
  for (const bool signal_every_read : {false, true}) {
    for (const bool doorbell_every_read : {false, true}) {
      const bool wanted = arguments.signal != (signal_every_read ? "last" : "all") &&
                          arguments.doorbell != (doorbell_every_read ? "batch" : "read");
      if (wanted) all.push_back({signal_every_read, doorbell_every_read});
    }
  }
  return all;
}

/// Refuses options that would be ignored, before anything is opened.
void check_options(const Command& command, const BenchArguments& arguments) {
  bool own = false;
  bool verbs = false;
  bool remote = false;
  for (const auto& tier : tiers::parse_tiers(arguments.tiers)) {
    remote |= tier->is_remote();
    verbs |= tier->read_path().kind == tiers::ReadPathKind::verbs;
    own |= tier->traits().own_memory;
  }
  const std::string is = "; --tier is " + arguments.tiers;
  refuse_unused(command,
                std::vector<OptionRule>{{"--bytes", own, "dram, shm and emulated tiers" + is},
                                        {"--signal", verbs, "--tier verbs" + is},
                                        {"--doorbell", verbs, "--tier verbs" + is}});
  if (!remote) rpc::refuse_tls_flags(command, "tiers of memory nodes, verbs and fabric" + is);
}

void bench_transport(const Command& command, const BenchArguments& arguments) {
  check_options(command, arguments);
  if (arguments.passes == 0) throw Error("--passes must be at least 1");
  if (!(arguments.pass_ms > 0)) throw Error("--pass-ms must be more than 0");
  if (arguments.bytes == 0) throw Error("--bytes must be at least 1");
  measure::JsonLines json(arguments.json);
  measure::bench_transport({.tiers = tiers::parse_tiers(arguments.tiers),
                            .axes = read_axes(arguments),
                            .tunings = tunings(arguments),
                            .bytes = arguments.bytes,
                            .seed = arguments.seed,
                            .passes = arguments.passes,
                            .pass_ms = arguments.pass_ms,
                            .tls = arguments.tls},
                           json);
}

void register_bench_transport(Command& bench) {
  auto arguments = std::make_shared<BenchArguments>();
  BenchArguments& a = *arguments;
  Command command =
      bench.add_command("transport", "Measure random reads of a tier: rate, bandwidth, latency");
  command.add_option("--tier", a.tiers, tiers::tier_help(tiers::TierUse::bench)).show_default();
  command.add_option("--payload", a.payloads, "Bytes per read").show_default();
  command.add_option("--inflight", a.inflights, "Reads outstanding per thread; 1 is synchronous")
      .show_default();
  command.add_option("--mix", a.mixes, "Share of reads that have 128 bytes instead of the payload")
      .show_default();
  command.add_option("--threads", a.threads, "Threads, each with its own endpoint (queue pair)")
      .show_default();
  command.add_option("--batch", a.batches,
                     "Reads per doorbell; 1 is without batching [8, at most half of --inflight]");
  command
      .add_option("--signal", a.signal,
                  "verbs: ask for a completion of the last read of a batch, of all, or measure "
                  "both")
      .one_of({"last", "all", "both"})
      .show_default();
  command
      .add_option("--doorbell", a.doorbell,
                  "verbs: ring once per batch, once per read of it, or measure both")
      .one_of({"batch", "read", "both"})
      .show_default();
  command
      .add_option("--bytes", a.bytes,
                  "Size of the region, like 256MiB, for dram, shm and emulated; sizes are\n" +
                      std::string(kSizeForms))
      .size()
      .show_default();
  command.add_option("--passes", a.passes, "Times every combination is measured, in turn")
      .show_default();
  command.add_option("--pass-ms", a.pass_ms, "Length of a pass").show_default();
  command
      .add_option("--seed", a.seed, "Random seed of the offsets, multiples of 64 over the region")
      .show_default();
  command.add_option("--json", a.json, "File for one JSON object per combination and line");
  rpc::add_tls_flags(command, a.tls);
  command.footer(
      "Latency is that of a read, from its doorbell to the poll that delivered it. The table shows "
      "medians\nof the passes and the spread of the rate. Every completion's status and length is "
      "checked.\n"
      "bound/s is the rate of reads that a modelled device allows; far below it, the thread that\n"
      "reads or the latency binds.\n"
      "Example:\n"
      "  farvec bench transport --tier shm,emulated:rdma --payload 64,256,4096 --inflight 1,16,128 "
      "\\\n    --mix 0%,50%,90% --json transport.json");
  command.callback([arguments, command] { bench_transport(command, *arguments); });
}

}  // namespace

void register_bench_command(Command& tool) {
  Command bench = tool.add_command("bench", "Measure one part by itself");
  bench.require_command();
  register_bench_transport(bench);
  register_bench_disk_command(bench);
  register_bench_memory_command(bench);
  register_bench_service_command(bench);
}

}  // namespace farvec::cli
