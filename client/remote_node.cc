#include "client/remote_node.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/status_error.h"
#include "client/cancellable_call.h"
#include "client/node_answers.h"
#include "rpc/channel.h"
#include "rpc/refusal.h"
#include "rpc/status.h"

namespace farvec::client {
namespace {
namespace v1 = compute_node::v1;
}  // namespace

std::shared_ptr<grpc::Channel> channel_to_node(const NodeAccess& access) {
  rpc::ConnectOptions connect;
  connect.wait = access.connect_wait;
  connect.await_listener = false;
  connect.stop = access.stop;
  connect.tls = rpc::load_tls(access.tls);
  return rpc::connect(rpc::parse_address(access.address), connect);
}

std::unique_ptr<v1::ComputeNode::Stub> connect_to_node(const NodeAccess& access) {
  return v1::ComputeNode::NewStub(channel_to_node(access));
}

v1::DescribeResponse describe_node(v1::ComputeNode::Stub& stub, const NodeAccess& access,
                                   const DescribeWait& wait) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + wait.deadline);
  v1::DescribeResponse node;
  const grpc::Status status =
      cancellable_call(stub, &v1::ComputeNode::Stub::PrepareAsyncDescribe, context,
                       v1::DescribeRequest(), wait.cancelled, node);
  if (!status.ok()) {
    throw StatusError(rpc::to_status_code(status.error_code()), "compute node {}: {}",
                      access.address, rpc::describe(status));
  }
  const std::string fault = node.attached() ? fault_of(node) : std::string();
  if (!fault.empty()) {
    throw StatusError(StatusCode::internal, "compute node {}: {}", access.address, fault);
  }
  return node;
}

void check_limits_of_node(v1::ComputeNode::Stub& stub, const NodeAccess& access,
                          const search::AskedSearch& parameters) {
  const v1::DescribeResponse node = describe_node(stub, access);
  if (node.attached()) (void)search::check_limits(parameters, limits_of(node));
}

bool serves_collection(const v1::DescribeResponse& node) {
  return changes_rows(node.layout());
}

search::SearchBounds limits_of(const v1::DescribeResponse& node) {
  return {.kind = node.clusters() > 0 ? layout::IndexKind::cluster : layout::IndexKind::graph,
          .vectors = serves_collection(node) ? search::SearchBounds{}.vectors : node.count(),
          .k = node.max_k(),
          .list = node.max_list(),
          .clusters = node.max_probe(),
          .refines = node.refines()};
}

v1::SearchRequest request_template(const search::AskedSearch& parameters, ElementType type,
                                   std::uint32_t dimension) {
  v1::SearchRequest request;
  // The numbers on the wire are the library's plus one.
  request.set_type(static_cast<v1::ElementType>(static_cast<int>(type) + 1));
  request.set_dimension(dimension);
  request.set_k(parameters.k);
  request.set_list(parameters.list);
  request.set_width(parameters.width);
  if (parameters.probing.clusters != 0) request.set_probe(parameters.probing.clusters);
  if (std::isfinite(parameters.probing.prune_ratio)) {
    request.set_prune_ratio(parameters.probing.prune_ratio);
  }
  if (parameters.partial) request.set_partial(true);
  request.set_exact(parameters.exact);
  // Even what is nearer than anything is a bound.
  const bool has_bound = parameters.within < std::numeric_limits<float>::infinity();
  if (has_bound) request.set_within(parameters.within);
  request.set_filter(parameters.filter);
  // The numbers on the wire are the library's.
  request.set_plan(static_cast<v1::FilterPlan>(parameters.plan));
  request.set_refine(parameters.refine);
  request.set_candidates(parameters.candidates);
  request.mutable_select()->Assign(parameters.select.begin(), parameters.select.end());
  return request;
}

std::string_view trailing_entry(const grpc::ClientContext& context, std::string_view key) {
  const auto& entries = context.GetServerTrailingMetadata();
  const auto entry = entries.find(grpc::string_ref(key.data(), key.size()));
  if (entry == entries.end()) return {};
  return {entry->second.data(), entry->second.size()};
}

std::chrono::milliseconds retry_after(const grpc::ClientContext& context) {
  const std::string_view text = trailing_entry(context, rpc::kRetryAfterKey);
  std::uint32_t ms = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ms);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return std::chrono::milliseconds(whole ? ms : 0);
}

}  // namespace farvec::client
