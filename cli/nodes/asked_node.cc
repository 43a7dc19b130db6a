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

/// Asks questions with one deadline for all of them.
class Questions {
 public:
  Questions(const std::string& address, std::shared_ptr<grpc::Channel> channel,
            Clock::time_point end)
      : name_(address), end_(end), channel_(std::move(channel)) {}

  /// Returns false when the node has no such service. Throws Error when it does not answer.
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

 private:
  const std::string& name_;
  const Clock::time_point end_;
  const std::shared_ptr<grpc::Channel> channel_;
};

/// How often a node is asked when its answers are of two indexes, which happens around a switch.
constexpr int kMostAsked = 5;

/// Returns true when the counters are of the index that is described.
bool agree(const ComputeNodeAnswers& answers) {
  const auto& [describe, stats, collection] = answers;
  return describe.attached() == stats.attached() && describe.generation() == stats.generation();
}

/// Returns false when the node has no such service.
bool ask_compute(const Questions& node, ComputeNodeAnswers& answers) {
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

/// Returns false when the node has no such service.
bool ask_memory(const Questions& node, MemoryNodeAnswers& answers) {
  using Memory = memory_node::v1::MemoryNode::Stub;
  Memory memory(node.channel());
  return node.ask(&Memory::Describe, memory, answers.describe) &&
         node.ask(&Memory::Stats, memory, answers.stats);
}

}  // namespace

AskedNode::AskedNode(std::string address, std::shared_ptr<const rpc::Tls> tls)
    : address_(std::move(address)), tls_(std::move(tls)) {}

NodeAnswers AskedNode::ask(double patience_s) {
  const std::chrono::milliseconds patience(static_cast<std::int64_t>(1e3 * patience_s));
  const Clock::time_point end = Clock::now() + patience;
  // The connection to a node that fails now is not kept.
  std::shared_ptr<grpc::Channel> channel = std::exchange(channel_, nullptr);
  if (channel == nullptr) {
    rpc::ConnectOptions connect;
    connect.wait = patience;
    connect.await_listener = false;
    connect.tls = tls_;
    channel = rpc::connect(rpc::parse_address(address_), connect);
  }
  const Questions node(address_, channel, end);
  ComputeNodeAnswers of_compute;
  if (ask_compute(node, of_compute)) {
    channel_ = std::move(channel);
    return of_compute;
  }
  MemoryNodeAnswers of_memory;
  if (ask_memory(node, of_memory)) {
    channel_ = std::move(channel);
    return of_memory;
  }
  throw Error("{}: it answers, and is neither a compute node nor a memory node", address_);
}

}  // namespace farvec::cli
