#include "client/remote_collection.h"

#include <grpcpp/grpcpp.h>

#include <random>
#include <thread>
#include <utility>

#include "base/status_error.h"
#include "client/backoff.h"
#include "client/node_answers.h"
#include "rpc/status.h"

namespace farvec::client {
namespace {

namespace wire = collection::v1;
using Clock = std::chrono::system_clock;

constexpr std::chrono::milliseconds kLook{100};  // between two looks at an interruption

bool is_worth_another(grpc::StatusCode code) {
  return code == grpc::StatusCode::RESOURCE_EXHAUSTED || code == grpc::StatusCode::UNAVAILABLE ||
         code == grpc::StatusCode::DEADLINE_EXCEEDED;
}

bool is_over(const Interruption& interrupted) {
  return interrupted && interrupted();
}

/// The wire's numbers are the library's, one up.
wire::ElementType to_wire(ElementType type) {
  return static_cast<wire::ElementType>(static_cast<int>(type) + 1);
}

template <typename Request>
Request request_of(std::span<const std::uint64_t> ids) {
  Request request;
  request.mutable_ids()->Add(ids.begin(), ids.end());
  return request;
}

}  // namespace

nlohmann::ordered_json state_json(const wire::StatsResponse& state) {
  nlohmann::ordered_json json{{"version", state.version()},
                              {"vectors", state.rows()},
                              {"memtable_vectors", state.memtable_rows()},
                              {"segments", state.segments()},
                              {"out_rows", state.rows_out()},
                              {"segment_bytes", state.segment_bytes()},
                              {"log_bytes", state.log_bytes()},
                              {"log_nodes", state.log_nodes()},
                              {"log_copies", state.log_copies()},
                              {"segment_copies_missing", state.segment_copies_missing()},
                              {"segments_built", state.segments_built()},
                              {"segments_merged", state.segments_merged()}};
  if (!state.failure().empty()) json["failure"] = state.failure();
  return json;
}

/// Of one attempt.
struct RemoteCollection::Wait {
  std::chrono::milliseconds deadline;
  Interruption cancelled = {};  ///< ends it early
  std::chrono::milliseconds* retry_after = nullptr;
};

template <typename Prepare, typename Request, typename Response>
grpc::Status RemoteCollection::call(Prepare prepare, const Request& request, const Wait& wait,
                                    Response& response) const {
  grpc::ClientContext context;
  context.set_deadline(Clock::now() + wait.deadline);
  grpc::CompletionQueue queue;
  grpc::Status status;
  const auto reader = ((*stub_).*prepare)(&context, request, &queue);
  reader->StartCall();
  reader->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool done = false;
  while (queue.AsyncNext(&tag, &done, Clock::now() + kLook) == grpc::CompletionQueue::TIMEOUT) {
    if (is_over(wait.cancelled)) context.TryCancel();
  }
  if (wait.retry_after != nullptr) *wait.retry_after = client::retry_after(context);
  return status;
}

/// What the last of the attempts came to. An interruption cancels the one under way only where
/// `cancelled` says so.
template <typename Prepare, typename Request, typename Response>
grpc::Status RemoteCollection::attempt(Prepare prepare, const Request& request,
                                       const Attempts& attempts, const Interruption& cancelled,
                                       Response& response) const {
  Random random(std::random_device{}());
  Backoff backoff(attempts.retries, random);
  for (;;) {
    std::chrono::milliseconds node_asks{0};
    const grpc::Status status =
        call(prepare, request,
             {.deadline = attempts.deadline, .cancelled = cancelled, .retry_after = &node_asks},
             response);
    const bool again = is_worth_another(status.error_code()) && !is_over(attempts.interrupted);
    const auto pause = again ? backoff.next(node_asks) : std::nullopt;
    if (!pause) return status;
    std::this_thread::sleep_for(*pause);
  }
}

template <typename Prepare, typename Request, typename Response>
void RemoteCollection::ask(Prepare prepare, const Request& request, const Attempts& attempts,
                           Response& response) const {
  require_ok(attempt(prepare, request, attempts, {}, response));
}

template <typename Prepare, typename Request, typename Response>
void RemoteCollection::await_work(Prepare prepare, const Request& request, const Attempts& attempts,
                                  Response& response) const {
  for (;;) {
    const grpc::Status status = attempt(prepare, request, attempts, attempts.interrupted, response);
    if (status.ok()) return;
    if (is_over(attempts.interrupted)) throw WorkInterrupted();
    if (status.error_code() != grpc::StatusCode::DEADLINE_EXCEEDED) return require_ok(status);
  }
}

void RemoteCollection::require_ok(const grpc::Status& status) const {
  if (status.ok()) return;
  if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) {
    throw StatusError(StatusCode::failed_precondition,
                      "{} takes no changes: start farvec-compute-node with --collection, and "
                      "without --follow",
                      access_.address);
  }
  throw StatusError(rpc::to_status_code(status.error_code()), "compute node {}: {}",
                    access_.address, rpc::describe(status));
}

/// Nothing is wrong with an answer when `fault` is empty.
void RemoteCollection::require_sound(const std::string& fault) const {
  if (fault.empty()) return;
  throw StatusError(StatusCode::internal, "compute node {}: {}", access_.address, fault);
}

RemoteCollection::RemoteCollection(NodeAccess access, const Attempts& attempts)
    : access_(std::move(access)), stub_(wire::Collection::NewStub(channel_to_node(access_))) {
  const wire::StatsResponse served = stats(attempts);
  if (served.max_rows() == 0 && served.max_ids() == 0) {
    throw StatusError(StatusCode::unavailable,
                      "compute node {}: it takes batches of 0 rows: no collection is open there",
                      access_.address);
  }
  require_sound(fault_of(served));
  type_ = element_type(served.type());
  stored_type_ = element_type(served.stored_type());
  dimension_ = served.dimension();
  batch_rows_ = served.max_rows();
  batch_ids_ = served.max_ids();
}

wire::StatsResponse RemoteCollection::stats(const Attempts& attempts) const {
  wire::StatsResponse response;
  ask(&Stub::PrepareAsyncStats, wire::StatsRequest(), attempts, response);
  return response;
}

void RemoteCollection::check(const VectorView& rows) const {
  if (rows.type == type_ && rows.dimension == dimension_) return;
  throw StatusError(StatusCode::invalid_argument,
                    "rows of {} x {} do not fit a collection of {} x {}", rows.dimension,
                    to_string(rows.type), dimension_, to_string(type_));
}

ChangeReceipt RemoteCollection::insert(const VectorView& rows, std::span<const std::uint64_t> ids,
                                       const Attempts& attempts) {
  auto request = request_of<wire::InsertRequest>(ids);
  request.set_type(to_wire(rows.type));
  request.set_dimension(rows.dimension);
  const std::size_t row_bytes = rows.dimension * element_bytes(rows.type);
  for (std::size_t i = 0; i < rows.count; ++i) {
    request.mutable_rows()->append(reinterpret_cast<const char*>(rows.row(i)), row_bytes);
  }
  wire::InsertResponse response;
  ask(&Stub::PrepareAsyncInsert, request, attempts, response);
  require_sound(fault_of(response, rows.count));
  return {.version = response.version(), .done = response.done(), .replaced = response.replaced()};
}

ChangeReceipt RemoteCollection::erase(std::span<const std::uint64_t> ids,
                                      const Attempts& attempts) {
  wire::DeleteResponse response;
  ask(&Stub::PrepareAsyncDelete, request_of<wire::DeleteRequest>(ids), attempts, response);
  require_sound(fault_of(response, ids.size()));
  return {.version = response.version(), .done = response.done(), .missing = response.missing()};
}

RemoteRows RemoteCollection::get(std::span<const std::uint64_t> ids,
                                 const Attempts& attempts) const {
  wire::GetResponse response;
  ask(&Stub::PrepareAsyncGet, request_of<wire::GetRequest>(ids), attempts, response);
  require_sound(fault_of(response, {stored_type_, dimension_}, ids.size()));
  const auto& found = response.found();
  const auto* const bytes = reinterpret_cast<const std::byte*>(response.rows().data());
  return {.found = {found.begin(), found.end()}, .rows = {bytes, bytes + response.rows().size()}};
}

void RemoteCollection::flush(const Attempts& attempts) {
  wire::FlushResponse response;
  await_work(&Stub::PrepareAsyncFlush, wire::FlushRequest(), attempts, response);
}

void RemoteCollection::compact(const Attempts& attempts) {
  wire::CompactResponse response;
  await_work(&Stub::PrepareAsyncCompact, wire::CompactRequest(), attempts, response);
}

}  // namespace farvec::client
