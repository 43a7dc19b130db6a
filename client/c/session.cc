#include "client/c/session.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/row_fault.h"
#include "base/status_error.h"
#include "client/described_json.h"
#include "client/node_answers.h"
#include "client/remote_search.h"
#include "dataset/view_reader.h"
#include "rpc/address.h"

namespace farvec::c {
namespace {

namespace v1 = compute_node::v1;

constexpr std::uint32_t kQueriesPerCall = 64;
constexpr search::SearchNames kMemberNames{"k",           "list",
                                           "width",       "probe",
                                           "prune_ratio", ", the most that the node allows",
                                           "refine",      "FARVEC_CANDIDATES"};

/// How long a call waits for a channel that has lost its node. gRPC goes on connecting while a call
/// waits, and otherwise every five seconds.
constexpr std::chrono::milliseconds kReconnect{100};

/// Connects. What is wrong before there is a connection is in the arguments; later, nothing
/// answers.
std::shared_ptr<grpc::Channel> connected(const client::NodeAccess& access) {
  (void)rpc::parse_address(access.address);
  (void)rpc::load_tls(access.tls);
  try {
    return client::channel_to_node(access);
  } catch (const StatusError&) {
    throw;
  } catch (const Error& error) {
    throw StatusError(StatusCode::unavailable, "{}", error.what());
  }
}

void check_queries(const VectorView& queries, const v1::DescribeResponse& served) {
  const ElementType type = client::element_type(served.type());
  if (queries.dimension != served.dimension() || queries.type != type) {
    throw StatusError(
        StatusCode::invalid_argument, "queries: they are {} x {}, and what is searched is {} x {}",
        queries.dimension, to_string(queries.type), served.dimension(), to_string(type));
  }
  const auto faulty = find_faulty_row(queries, client::metric(served.metric()));
  if (!faulty) return;
  throw StatusError(StatusCode::invalid_argument, "queries: row {} {}", faulty->row,
                    to_string(faulty->fault));
}

}  // namespace

changes::Patience patience_of(const Turn& turn) {
  const double us = std::chrono::duration<double, std::micro>(turn.left()).count();
  return {now_ticks() + us_to_ticks(us), turn.interruption()};
}

Session::Session(client::NodeAccess access, std::uint32_t retries, const Turn& turn)
    : access_(std::move(access)),
      retries_(retries),
      cancelled_(turn.interruption()),
      channel_(connected(access_)),
      stub_(v1::ComputeNode::NewStub(channel_)),
      served_(describe(turn)),
      schema_(layout::parse_schema(served_.schema())) {}

/// Waits a little for the node where it is not connected.
void Session::reach() const {
  if (channel_->GetState(true) == GRPC_CHANNEL_READY) return;
  (void)channel_->WaitForConnected(std::chrono::system_clock::now() + kReconnect);
}

v1::DescribeResponse Session::describe(const Turn& turn) const {
  reach();
  v1::DescribeResponse node =
      client::describe_node(*stub_, access_, {.deadline = turn.left(), .cancelled = cancelled_});
  if (node.attached()) return node;
  throw StatusError(StatusCode::unavailable, "compute node {} serves no index at the moment",
                    access_.address);
}

client::RemoteCollection& Session::changes() {
  reach();
  if (!changes_) {
    const client::Attempts attempts{
        .retries = retries_, .interrupted = cancelled_, .cancelled = cancelled_};
    changes_.emplace(channel_, access_, attempts, client::metric(served_.metric()));
  }
  return *changes_;
}

std::string Session::state(const Turn& turn) {
  const v1::DescribeResponse node = describe(turn);
  nlohmann::ordered_json facts = client::described_json(node, access_.address);
  if (!client::serves_collection(node)) return facts.dump();
  facts["collection"] = facts["index"];
  facts["node_version"] = facts["version"];
  facts.erase("index");
  try {
    facts.update(changes().now());
  } catch (const StatusError& error) {
    // A node that follows a collection takes no changes, and does not count them.
    if (error.code != StatusCode::failed_precondition) throw;
  }
  return facts.dump();
}

/// Asks the node for its columns again where one of these is not known: someone may have added it.
layout::Schema Session::selected(const std::vector<std::string>& columns, const Turn& turn) {
  const auto known = [&](const std::string& name) { return schema_.find(name).has_value(); };
  if (!std::ranges::all_of(columns, known)) {
    schema_ = layout::parse_schema(describe(turn).schema());
  }
  try {
    return layout::select_columns(schema_, schema_.require(columns));
  } catch (const Error& error) {
    throw StatusError(StatusCode::invalid_argument, "columns: {}", error.what());
  }
}

Found Session::search(const VectorView& queries, const search::AskedSearch& asked,
                      const Turn& turn) {
  check_queries(queries, served_);
  (void)search::check_limits(asked, bounds(), kMemberNames);
  reach();
  client::RemoteSearchOptions options;
  options.node = access_;
  options.parameters = asked;
  options.queries_per_call = std::min(kQueriesPerCall, served_.max_queries_per_call());
  options.deadline = turn.left();
  options.retries = retries_;
  options.interrupted = cancelled_;
  options.wide_ids = client::serves_collection(served_);
  options.select = selected(asked.select, turn);
  dataset::ViewReader rows(queries, "queries");
  return found_in(client::search_node(*stub_, options, rows), options.select);
}

}  // namespace farvec::c
