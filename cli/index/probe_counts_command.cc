// The command `farvec probe-counts` writes how often compute nodes have probed each cluster, for
// `farvec regroup`.
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "cli/commands.h"
#include "collection/nodes/probing_nodes.h"
#include "measure/report/json_text.h"
#include "rpc/tls_flags.h"
#include "search/searchers/probe_counts.h"

namespace farvec::cli {
namespace {

using search::ProbeTally;

constexpr std::chrono::seconds kCallTimeout{60};

struct ProbeCountsArguments {
  std::string connect;
  std::string out;
  std::optional<std::uint64_t> segment;
  rpc::TlsFiles tls;
  bool json = false;
};

void write_counts(const ProbeCountsArguments& arguments) {
  const std::vector<rpc::Address> addresses = rpc::parse_addresses(arguments.connect);
  const rpc::ProbeCountsCall call{arguments.segment, kCallTimeout, rpc::load_tls(arguments.tls)};
  ProbeTally sum = collection::ask_probes(addresses.front(), call);
  for (std::size_t i = 1; i < addresses.size(); ++i) {
    search::add_probes(collection::ask_probes(addresses[i], call), rpc::to_string(addresses[i]),
                       sum);
  }
  search::write_probe_counts(arguments.out, sum);
  const std::uint64_t probes =
      std::accumulate(sum.counts.begin(), sum.counts.end(), std::uint64_t{0});
  if (arguments.json) {
    const nlohmann::ordered_json facts{{"compute_nodes", addresses.size()},
                                       {"dataset", sum.dataset},
                                       {"clusters", sum.counts.size()},
                                       {"probes", probes},
                                       {"out", arguments.out}};
    fmt::print("{}\n", measure::json_text(facts));
    return;
  }
  fmt::print("{}: {} probes of {} clusters by {} compute node{}\n", arguments.out, probes,
             sum.counts.size(), addresses.size(), addresses.size() == 1 ? "" : "s");
}

}  // namespace

void register_probe_counts_command(Command& tool) {
  auto arguments = std::make_shared<ProbeCountsArguments>();
  Command command = tool.add_command(
      "probe-counts", "Write how often compute nodes have probed each cluster of their index");
  command
      .add_option(
          "--connect", arguments->connect,
          "Compute node: HOST:PORT or unix:/path; several, separated by commas, that serve\n"
          "the same clusters are added up")
      .required();
  command.add_option("--out", arguments->out, "File for `farvec regroup --frequencies`").required();
  command.add_option(
      "--segment", arguments->segment,
      "Number of a segment, for a collection of clusters, as `farvec collection inspect` says it");
  command.add_flag("--json", arguments->json, "Report as one JSON object");
  rpc::add_tls_flags(command, arguments->tls);
  command.footer(
      "A node counts from when it opened the index: a regrouped index that it follows to begins\n"
      "at 0.\n"
      "Example:\n"
      "  farvec probe-counts --connect 127.0.0.1:7711 --out probes.json\n"
      "  farvec regroup --index sift1m.clusters --frequencies probes.json --out regrouped");
  command.callback([arguments] { write_counts(*arguments); });
}

}  // namespace farvec::cli
