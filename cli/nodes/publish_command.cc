// The command `farvec publish` makes memory nodes load another index beside the one they serve, and
// serve it.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/command_line.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/version.h"
#include "cli/commands.h"
#include "measure/report/json_text.h"
#include "measure/ticker.h"
#include "rpc/channel.h"
#include "rpc/load_index.h"
#include "rpc/memory_node.grpc.pb.h"
#include "rpc/tls_flags.h"

namespace farvec::cli {
namespace {

namespace node_v1 = memory_node::v1;

struct PublishArguments {
  std::string memory_nodes;
  std::string index;
  double timeout_seconds = 3600;
  rpc::TlsFiles tls;
  bool quiet = false;
  bool json = false;
};

/// Shows on a thread of its own how far the node is, as long as this object lives.
class LoadWatch {
 public:
  LoadWatch(node_v1::MemoryNode::Stub& stub, std::string label)
      : stub_(stub), label_(std::move(label)), ticker_([this] { look(); }) {}

 private:
  void look() {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(1));
    node_v1::DescribeResponse now;
    if (!stub_.Describe(&context, {}, &now).ok() || now.loaded_bytes() <= shown_) return;
    if (!progress_) {
      if (now.loaded_bytes() == now.total_bytes()) return;  // bytes of the load before
      progress_.emplace(label_, now.total_bytes());
    }
    progress_->advance(now.loaded_bytes() - shown_);
    shown_ = now.loaded_bytes();
  }

  node_v1::MemoryNode::Stub& stub_;
  const std::string label_;
  std::uint64_t shown_ = 0;
  std::optional<Progress> progress_;
  measure::Ticker ticker_;
};

node_v1::LoadResponse load(const rpc::Address& address, const PublishArguments& arguments,
                           const std::shared_ptr<const rpc::Tls>& tls) {
  const std::string name = rpc::to_string(address);
  rpc::ConnectOptions connect;
  connect.tls = tls;
  connect.await_listener = false;
  const auto stub = node_v1::MemoryNode::NewStub(rpc::connect(address, connect));
  std::optional<LoadWatch> watch;
  if (!arguments.quiet) watch.emplace(*stub, "loading at " + name);
  grpc::ClientContext context;
  const auto timeout =
      std::chrono::milliseconds(static_cast<std::int64_t>(1000 * arguments.timeout_seconds));
  return rpc::load_index(*stub, context, {name, arguments.index, timeout});
}

void publish(const PublishArguments& arguments) {
  const auto tls = rpc::load_tls(arguments.tls);
  auto nodes = nlohmann::ordered_json::array();
  for (const rpc::Address& address : rpc::parse_addresses(arguments.memory_nodes)) {
    const node_v1::LoadResponse done = load(address, arguments, tls);
    nodes.push_back({{"memory_node", rpc::to_string(address)},
                     {"generation", done.generation()},
                     {"region_bytes", done.region_bytes()},
                     {"load_seconds", done.load_seconds()}});
    if (arguments.json) continue;
    fmt::print("{} serves {}: {} bytes, loaded and verified in {:.2f} s, generation {}\n",
               rpc::to_string(address), arguments.index, done.region_bytes(), done.load_seconds(),
               done.generation());
  }
  if (!arguments.json) return;
  const nlohmann::ordered_json facts{
      {"index", arguments.index}, {"memory_nodes", nodes}, {"commit", commit()}};
  fmt::print("{}\n", measure::json_text(facts));
}

}  // namespace

void register_publish_command(Command& tool) {
  auto arguments = std::make_shared<PublishArguments>();
  Command command = tool.add_command(
      "publish", "Memory nodes load another index beside the one they serve, and serve it");
  command
      .add_option("--memory-node", arguments->memory_nodes,
                  "HOST:PORT or unix:/path; several, separated by commas, one after the other")
      .required();
  command
      .add_option("--index", arguments->index,
                  "Index directory, on the memory nodes' machines under the same path")
      .required();
  command
      .add_option("--timeout-seconds", arguments->timeout_seconds,
                  "A load that takes longer is stopped, and changes nothing")
      .range(0.001, 1e6)
      .show_default();
  rpc::add_tls_flags(command, arguments->tls);
  command.add_flag("--quiet", arguments->quiet, "No progress");
  command.add_flag("--json", arguments->json, "Report as one JSON object");
  command.footer(
      "A compute node opens the new index beside the old one, gives it all later queries, and "
      "lets\n"
      "the old one go; the memory node frees that when no reader is left. When a node "
      "cannot\n"
      "load the index, what it serves stays. Memory needed on each node: both indexes.\n"
      "Example:\n"
      "  farvec regroup --index sift1m.clusters --frequencies probes.json --out regrouped\n"
      "  farvec publish --memory-node 127.0.0.1:7700 --index regrouped");
  command.callback([arguments] { publish(*arguments); });
}

}  // namespace farvec::cli
