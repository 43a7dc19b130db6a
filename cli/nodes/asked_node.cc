#include "cli/nodes/asked_node.h"

#include <chrono>
#include <memory>
#include <utility>

#include "base/error.h"
#include "rpc/channel.h"
#include "rpc/status.h"

namespace farvec::cli {
namespace {

using Clock = std::chrono::system_clock;

/// A node that is asked, with one deadline for everything.
class Node {
 public:
  Node(const std::string& address, const std::shared_ptr<const rpc::Tls>& tls,
       std::chrono::milliseconds patience)
      : name_(address), end_(Clock::now() + patience) {
    rpc::ConnectOptions connect;
    connect.wait = patience;
    connect.await_listener = false;
    connect.tls = tls;
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

}  // namespace

NodeAnswers ask_node(const std::string& address, const std::shared_ptr<const rpc::Tls>& tls,
                     double patience_s) {
  const Node node(address, tls,
                  std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * patience_s)));
  using Memory = memory_node::v1::MemoryNode::Stub;
  ComputeNodeAnswers of_compute;
  if (ask_compute(node, of_compute)) return of_compute;
  Memory memory(node.channel());
  MemoryNodeAnswers of_memory;
  if (node.ask(&Memory::Describe, memory, of_memory.describe) &&
      node.ask(&Memory::Stats, memory, of_memory.stats)) {
    return of_memory;
  }
  throw Error("{}: it answers, and is neither a compute node nor a memory node", node.name());
}

}  // namespace farvec::cli
