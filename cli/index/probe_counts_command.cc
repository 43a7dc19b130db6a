// farvec probe-counts: how often compute nodes have probed each cluster, for farvec regroup.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "cli/commands.h"
#include "rpc/channel.h"
#include "rpc/compute_node.grpc.pb.h"
#include "rpc/status.h"
#include "rpc/tls_flags.h"
#include "search/probe_counts.h"

namespace farvec::cli {
namespace {

namespace v1 = compute_node::v1;
using search::ProbeTally;

/// Room for the counts of a hundred million clusters.
constexpr int kMaxMessageBytes = 1 << 30;
constexpr std::chrono::seconds kCallTimeout{60};

struct ProbeCountsArguments {
  std::string connect;
  std::string out;
  rpc::TlsFiles tls;
  bool json = false;
};

ProbeTally ask(const rpc::Address& address, const std::shared_ptr<const rpc::Tls>& tls) {
  rpc::ConnectOptions connect;
  connect.max_message_bytes = kMaxMessageBytes;
  connect.tls = tls;
  connect.await_listener = false;
  const auto stub = v1::ComputeNode::NewStub(rpc::connect(address, connect));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCallTimeout);
  v1::ProbeCountsResponse response;
  const grpc::Status status = stub->ProbeCounts(&context, {}, &response);
  if (!status.ok()) {
    throw Error("compute node {}: {}", rpc::to_string(address), rpc::describe(status));
  }
  return {response.dataset(),
          response.centroids_xxh3(),
          {response.counts().begin(), response.counts().end()}};
}

void add(const ProbeTally& more, const std::string& whose, ProbeTally& sum) {
  if (more.centroids_xxh3 != sum.centroids_xxh3 || more.counts.size() != sum.counts.size()) {
    throw Error("compute node {} serves other clusters than the ones before it", whose);
  }
  for (std::size_t i = 0; i < sum.counts.size(); ++i) sum.counts[i] += more.counts[i];
}

void write_counts(const ProbeCountsArguments& arguments) {
  const std::vector<rpc::Address> addresses = rpc::parse_addresses(arguments.connect);
  const auto tls = rpc::load_tls(arguments.tls);
  ProbeTally sum = ask(addresses.front(), tls);
  for (std::size_t i = 1; i < addresses.size(); ++i) {
    add(ask(addresses[i], tls), rpc::to_string(addresses[i]), sum);
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
    fmt::print("{}\n", facts.dump());
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
