#include "client/c/session.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <exception>
#include <random>
#include <utility>

#include "base/clock.h"
#include "base/row_fault.h"
#include "base/status_error.h"
#include "client/backoff.h"
#include "client/c/given.h"
#include "client/cancellable_call.h"
#include "client/described_json.h"
#include "client/node_answers.h"
#include "client/remote_search.h"
#include "dataset/view_reader.h"
#include "rpc/address.h"
#include "rpc/channel.h"

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
/// How long it is relied on what a node has said, while the connection holds.
constexpr std::chrono::seconds kFresh{1};
/// How often a search is made again because the node has become another.
constexpr int kMostSearches = 3;

/// Connects. What is wrong before there is a connection is in the arguments; later, nothing
/// answers.
std::shared_ptr<grpc::Channel> connected(const client::NodeAccess& access, const Turn& turn) {
  (void)rpc::parse_address(access.address);
  (void)rpc::load_tls(access.tls);
  try {
    return client::channel_to_node(access);
  } catch (const StatusError&) {
    throw;
  } catch (const rpc::NobodyListens& error) {
    throw StatusError(StatusCode::unavailable, "{}", error.what());
  } catch (const Error& error) {
    const bool late = Clock::now() >= turn.until;
    throw StatusError(late ? StatusCode::deadline_exceeded : StatusCode::unavailable, "{}",
                      error.what());
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

struct Session::Ready {
  search::AskedSearch asked;
  layout::Schema select;
  bool wide_ids = false;

  /// Returns whether the other search has the same bounds, and answers of the same form.
  bool is_same(const Ready& other) const {
    return asked.k == other.asked.k && asked.list == other.asked.list &&
           asked.probing.clusters == other.asked.probing.clusters && select == other.select &&
           wide_ids == other.wide_ids;
  }
};

Session::Session(client::NodeAccess access, std::uint32_t retries, const Turn& turn)
    : access_(std::move(access)),
      retries_(retries),
      cancelled_(turn.interruption()),
      channel_(connected(access_, turn)),
      stub_(v1::ComputeNode::NewStub(channel_)) {
  (void)describe(turn);
}

/// Waits a little for the node where it is not connected.
void Session::reach() const {
  if (channel_->GetState(true) == GRPC_CHANNEL_READY) return;
  (void)channel_->WaitForConnected(std::chrono::system_clock::now() + kReconnect);
}

/// Asks the node what it serves, at most 1 + retries times.
v1::DescribeResponse Session::ask(Clock::time_point until) const {
  Random random(std::random_device{}());
  client::Backoff backoff(retries_, random);
  const std::atomic<bool> never{false};
  for (;;) {
    reach();
    try {
      const Turn turn{until, never};
      v1::DescribeResponse node = client::describe_node(
          *stub_, access_, {.deadline = turn.left(), .cancelled = cancelled_});
      if (node.attached()) return node;
      throw StatusError(StatusCode::unavailable, "compute node {} serves no index at the moment",
                        access_.address);
    } catch (const StatusError& error) {
      const bool passes =
          error.code == StatusCode::unavailable || error.code == StatusCode::resource_exhausted;
      if (!passes || asked_to_end(cancelled_) || Clock::now() >= until) throw;
      const auto pause = backoff.next({});
      if (!pause) throw;
      client::cancellable_pause(*pause, cancelled_);
    }
  }
}

const v1::DescribeResponse& Session::describe(const Turn& turn) {
  v1::DescribeResponse node = ask(turn.until);
  layout::Schema schema = layout::parse_schema(node.schema());
  served_ = std::move(node);
  schema_ = std::move(schema);
  described_at_ = Clock::now();
  changes_.reset();
  return served_;
}

/// Asks the node again where it may be another by now.
void Session::refresh(const Turn& turn) {
  const bool holds = channel_->GetState(true) == GRPC_CHANNEL_READY;
  if (!holds || Clock::now() - described_at_ >= kFresh) (void)describe(turn);
}

client::RemoteCollection& Session::changes(const Turn& turn) {
  refresh(turn);
  until_ = turn.until;
  if (!changes_) {
    const client::Attempts attempts{.retries = retries_,
                                    .interrupted = cancelled_,
                                    .cancelled = cancelled_,
                                    .refused = [this](const std::string&) { require_same_rows(); }};
    changes_.emplace(channel_, access_, attempts, client::metric(served_.metric()));
  }
  return *changes_;
}

/// Throws where a node was started again with rows of another shape: what a call has made for the
/// former rows would be read as something else.
void Session::require_same_rows() {
  if (!changes_) return;
  const changes::RowShape known = changes_->row_shape();
  const v1::DescribeResponse node = ask(until_);
  if (node.dimension() == known.dimension && client::element_type(node.type()) == known.type &&
      layout::parse_schema(node.schema()).begins_with(known.schema)) {
    return;
  }
  described_at_ = {};
  throw StatusError(StatusCode::unavailable,
                    "compute node {}: it was started again with rows of another shape: call again",
                    access_.address);
}

std::string Session::state(const Turn& turn) {
  const v1::DescribeResponse& node = describe(turn);
  nlohmann::ordered_json facts = client::described_json(node, access_.address);
  if (!client::serves_collection(node)) return facts.dump();
  facts["collection"] = facts["index"];
  facts["node_version"] = facts["version"];
  facts.erase("index");
  try {
    facts.update(changes(turn).now());
  } catch (const StatusError& error) {
    // A node that follows a collection takes no changes, and does not count them.
    if (error.code != StatusCode::failed_precondition) throw;
  }
  return facts.dump();
}

Session::Ready Session::ready(const VectorView& queries, search::AskedSearch asked) const {
  check_queries(queries, served_);
  complete(asked, bounds());
  (void)search::check_limits(asked, bounds(), kMemberNames);
  try {
    layout::Schema select = layout::select_columns(schema_, schema_.require(asked.select));
    return {std::move(asked), std::move(select), client::serves_collection(served_)};
  } catch (const Error& error) {
    throw StatusError(StatusCode::invalid_argument, "columns: {}", error.what());
  }
}

/// Asks the node again before it refuses a search: it may have more columns or rows by now.
Session::Ready Session::newly_ready(const VectorView& queries, const search::AskedSearch& asked,
                                    const Turn& turn) {
  try {
    return ready(queries, asked);
  } catch (const Error&) {
    (void)describe(turn);
    return ready(queries, asked);
  }
}

/// Says by `again` whether there was more than one attempt.
client::RemoteResults Session::send(const VectorView& queries, const Ready& ready, const Turn& turn,
                                    bool& again) const {
  client::RemoteSearchOptions options;
  options.node = access_;
  options.parameters = ready.asked;
  options.queries_per_call = std::min(kQueriesPerCall, served_.max_queries_per_call());
  options.deadline = turn.left();
  options.retries = retries_;
  options.interrupted = cancelled_;
  options.again = [&again] { again = true; };
  options.wide_ids = ready.wide_ids;
  options.select = ready.select;
  dataset::ViewReader rows(queries, "queries");
  return client::search_node(*stub_, options, rows);
}

/// An answer does not say which columns its bytes are of. The node is asked after it, and where it
/// says something else than before, the search is made again.
Found Session::search(const VectorView& queries, const search::AskedSearch& asked,
                      const Turn& turn) {
  refresh(turn);
  for (int i = 0; i < kMostSearches; ++i) {
    const Ready made = newly_ready(queries, asked, turn);
    bool again = false;
    std::optional<client::RemoteResults> results;
    std::exception_ptr thrown;
    try {
      results = send(queries, made, turn, again);
      if (!again && asked.select.empty()) return found_in(std::move(*results), made.select);
    } catch (const StatusError& error) {
      if (error.code != StatusCode::internal && error.code != StatusCode::invalid_argument) throw;
      thrown = std::current_exception();
    }
    (void)describe(turn);
    if (!ready(queries, asked).is_same(made)) continue;
    if (thrown) std::rethrow_exception(thrown);
    return found_in(std::move(*results), made.select);
  }
  throw StatusError(StatusCode::unavailable,
                    "compute node {}: it was another one after each of {} searches",
                    access_.address, kMostSearches);
}

}  // namespace farvec::c
