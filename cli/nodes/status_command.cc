// farvec status: whether a compute node or a memory node serves, what, and since when.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "base/command_line.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/nodes/node_status.h"
#include "rpc/channel.h"
#include "rpc/collection.grpc.pb.h"
#include "rpc/status.h"
#include "rpc/tls_flags.h"

namespace farvec::cli {
namespace {

using Clock = std::chrono::system_clock;

/// Exit status of a program that found a node that does not serve; `launch.sh status` has the same.
constexpr int kDoesNotServe = 3;

struct StatusArguments {
  std::string address;
  rpc::TlsFiles tls;
  double timeout_seconds = 5;
  bool json = false;
};

/// A node that is asked, with one deadline for everything.
class Node {
 public:
  explicit Node(const StatusArguments& arguments)
      : name_(arguments.address), end_(Clock::now() + patience(arguments)) {
    rpc::ConnectOptions connect;
    connect.wait = patience(arguments);
    connect.await_listener = false;
    connect.tls = rpc::load_tls(arguments.tls);
    channel_ = rpc::connect(rpc::parse_address(name_), connect);
  }

  /// False when the node has no such service. Throws Error when it does not answer.
  template <typename Stub, typename Request, typename Response>
  bool ask(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
           Stub& stub, Response& response) const {
    grpc::ClientContext context;
    context.set_deadline(end_);
    const grpc::Status status = (stub.*method)(&context, Request(), &response);
    if (status.ok()) return true;
    if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) return false;
    throw Error("{}: {}", name_, rpc::describe(status));
  }

  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  const std::string& name() const { return name_; }

 private:
  static std::chrono::milliseconds patience(const StatusArguments& arguments) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * arguments.timeout_seconds));
  }

  const std::string name_;
  const Clock::time_point end_;
  std::shared_ptr<grpc::Channel> channel_;
};

/// How often a node is asked whose answers are of two indexes, as they are around a switch.
constexpr int kMostAsked = 5;

/// Whether the counters are of the index that is described.
bool agree(const ComputeNodeAnswers& answers) {
  const auto& [describe, stats, collection] = answers;
  return describe.attached() == stats.attached() && describe.generation() == stats.generation();
}

/// False when the node has no such service.
bool ask_compute(const Node& node, ComputeNodeAnswers& answers) {
  using Compute = compute_node::v1::ComputeNode::Stub;
  Compute compute(node.channel());
  for (int asked = 0; asked < kMostAsked; ++asked) {
    if (!node.ask(&Compute::Describe, compute, answers.describe)) return false;
    if (!node.ask(&Compute::Stats, compute, answers.stats)) return false;
    if (agree(answers)) break;
  }
  using Collection = collection::v1::Collection::Stub;
  Collection collection(node.channel());
  collection::v1::StatsResponse state;
  if (node.ask(&Collection::Stats, collection, state)) answers.collection = std::move(state);
  return true;
}

NodeStatus ask(const Node& node) {
  using Memory = memory_node::v1::MemoryNode::Stub;
  ComputeNodeAnswers of_compute;
  if (ask_compute(node, of_compute)) return status_of(node.name(), of_compute);
  Memory memory(node.channel());
  MemoryNodeAnswers of_memory;
  if (node.ask(&Memory::Describe, memory, of_memory.describe) &&
      node.ask(&Memory::Stats, memory, of_memory.stats)) {
    return status_of(node.name(), of_memory);
  }
  throw Error("{}: it answers, and is neither a compute node nor a memory node", node.name());
}

void print_status(const StatusArguments& arguments) {
  const NodeStatus status = ask(Node(arguments));
  fmt::print("{}\n", arguments.json ? status.facts.dump() : status.text);
  std::fflush(stdout);
  if (!status.serving) throw ExitStatus{kDoesNotServe};
}

}  // namespace

void register_status_command(Command& tool) {
  auto arguments = std::make_shared<StatusArguments>();
  Command command = tool.add_command(
      "status", "Whether a compute node or a memory node serves, what, and since when");
  command.add_option("address", arguments->address, "HOST:PORT or unix:/path of either").required();
  command
      .add_option("--timeout-seconds", arguments->timeout_seconds,
                  "For the whole answer; a port that nobody listens on is told at once")
      .range(0.001, 3600.0)
      .show_default();
  command.add_flag("--json", arguments->json, "As one JSON object");
  rpc::add_tls_flags(command, arguments->tls);
  command.footer(
      "Exit status: 0 when it serves, 3 when it answers and does not, 1 when it does not answer.\n"
      "Example:\n"
      "  farvec status 127.0.0.1:7711\n"
      "  farvec status unix:/run/farvec-memory.sock --json");
  command.callback([arguments] { print_status(*arguments); });
}

}  // namespace farvec::cli
