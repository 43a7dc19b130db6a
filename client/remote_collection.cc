#include "client/remote_collection.h"

#include <grpcpp/grpcpp.h>

#include <random>
#include <unordered_set>
#include <utility>

#include "base/row_fault.h"
#include "base/status_error.h"
#include "changes/distinct_update.h"
#include "client/backoff.h"
#include "client/cancellable_call.h"
#include "client/node_answers.h"
#include "client/state_json.h"
#include "rpc/status.h"

namespace farvec::client {
namespace {

namespace wire = collection::v1;
using Clock = std::chrono::system_clock;

bool is_worth_another(grpc::StatusCode code) {
  return code == grpc::StatusCode::RESOURCE_EXHAUSTED || code == grpc::StatusCode::UNAVAILABLE ||
         code == grpc::StatusCode::DEADLINE_EXCEEDED;
}

/// The numbers on the wire are the library's plus one.
wire::ElementType to_wire(ElementType type) {
  return static_cast<wire::ElementType>(static_cast<int>(type) + 1);
}

template <typename Request>
Request request_of(std::span<const std::uint64_t> ids) {
  Request request;
  request.mutable_ids()->Add(ids.begin(), ids.end());
  return request;
}

template <typename Request>
void add_attributes(const layout::TupleView& rows, Request& request) {
  for (std::size_t i = 0; i < rows.count(); ++i) {
    const std::span<const std::byte> tuple = rows.row(i);
    request.mutable_attributes()->append(reinterpret_cast<const char*>(tuple.data()), tuple.size());
    request.add_attribute_ends(request.attributes().size());
  }
}

void add_values(const changes::ColumnValues& update, wire::UpdateRequest& request) {
  request.mutable_columns()->Add(update.columns.begin(), update.columns.end());
  add_attributes(update.values, request);
}

template <typename Response>
changes::Receipt receipt_in(const Response& response) {
  return {.version = response.version(), .done = response.done(), .missing = response.missing()};
}

}  // namespace

/// Says how long one attempt waits.
struct RemoteCollection::Wait {
  std::chrono::milliseconds deadline;
  Interruption cancelled = {};  ///< ends the attempt early
  std::chrono::milliseconds* retry_after = nullptr;
};

template <typename Prepare, typename Request, typename Response>
grpc::Status RemoteCollection::call(Prepare prepare, const Request& request, const Wait& wait,
                                    Response& response) const {
  grpc::ClientContext context;
  context.set_deadline(Clock::now() + wait.deadline);
  const grpc::Status status =
      cancellable_call(*stub_, prepare, context, request, wait.cancelled, response);
  if (wait.retry_after != nullptr) *wait.retry_after = client::retry_after(context);
  return status;
}

/// Returns how the last of the attempts ended. The attempt under way is cancelled only when
/// `cancelled`, or attempts.cancelled, says so.
template <typename Prepare, typename Request, typename Response>
grpc::Status RemoteCollection::attempt(Prepare prepare, const Request& request,
                                       const Attempts& attempts, const Interruption& cancelled,
                                       Response& response) const {
  Random random(std::random_device{}());
  Backoff backoff(attempts.retries, random);
  const auto ends = [&] { return asked_to_end(cancelled) || asked_to_end(attempts.cancelled); };
  for (;;) {
    std::chrono::milliseconds node_asks{0};
    const grpc::Status status = call(
        prepare, request,
        {.deadline = attempts.deadline, .cancelled = ends, .retry_after = &node_asks}, response);
    const bool again =
        is_worth_another(status.error_code()) && !asked_to_end(attempts.interrupted) && !ends();
    const auto pause = again ? backoff.next(node_asks) : std::nullopt;
    if (!pause) return status;
    if (attempts.refused) attempts.refused(status.error_message());
    cancellable_pause(*pause, ends);
  }
}

template <typename Prepare, typename Request, typename Response>
void RemoteCollection::ask(Prepare prepare, const Request& request, const Attempts& attempts,
                           Response& response) const {
  require_ok(attempt(prepare, request, attempts, {}, response));
}

/// Asks again until the work is done. Returns false when it was interrupted.
template <typename Prepare, typename Request, typename Response>
bool RemoteCollection::await_work(Prepare prepare, const Request& request, const Attempts& attempts,
                                  Response& response) const {
  for (;;) {
    const grpc::Status status = attempt(prepare, request, attempts, attempts.interrupted, response);
    if (status.ok()) return true;
    if (asked_to_end(attempts.interrupted)) return false;
    if (status.error_code() != grpc::StatusCode::DEADLINE_EXCEEDED) require_ok(status);
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

/// Throws unless `fault` is empty: then nothing is wrong with an answer.
void RemoteCollection::require_sound(const std::string& fault) const {
  if (fault.empty()) return;
  throw StatusError(StatusCode::internal, "compute node {}: {}", access_.address, fault);
}

RemoteCollection::RemoteCollection(NodeAccess access, Attempts attempts,
                                   std::optional<Metric> metric)
    : RemoteCollection(channel_to_node(access), access, std::move(attempts), metric) {}

RemoteCollection::RemoteCollection(const std::shared_ptr<grpc::Channel>& channel, NodeAccess access,
                                   Attempts attempts, std::optional<Metric> metric)
    : access_(std::move(access)),
      attempts_(std::move(attempts)),
      stub_(wire::Collection::NewStub(channel)) {
  const wire::StatsResponse served = stats(attempts_);
  if (served.max_rows() == 0 && served.max_ids() == 0) {
    throw StatusError(StatusCode::unavailable,
                      "compute node {}: it takes batches of 0 rows: no collection is open there",
                      access_.address);
  }
  require_sound(fault_of(served));
  shape_ = {.type = element_type(served.type()),
            .stored_type = element_type(served.stored_type()),
            .dimension = served.dimension(),
            .metric = metric,
            .batch_rows = served.max_rows(),
            .batch_ids = served.max_ids(),
            .batch_gets = served.max_rows()};
  schema_ = std::make_shared<const layout::Schema>(layout::parse_schema(served.schema()));
}

changes::RowShape RemoteCollection::row_shape() const {
  changes::RowShape shape = shape_;
  const std::lock_guard lock(mutex_);
  shape.schema = *schema_;
  return shape;
}

/// Returns the columns after an answer in which the node says this of them. Another client may have
/// added some.
layout::Schema RemoteCollection::learn(const std::string& said) const {
  const std::lock_guard lock(mutex_);
  try {
    schema_ = std::make_shared<const layout::Schema>(grown_schema(said, *schema_));
    return *schema_;
  } catch (const Error& error) {
    throw StatusError(StatusCode::internal, "compute node {}: {}", access_.address, error.what());
  }
}

layout::Schema RemoteCollection::newest_schema() const {
  return learn(stats(attempts_).schema());
}

void RemoteCollection::add_columns(const layout::Schema& columns) {
  wire::AddColumnsRequest request;
  request.set_columns(layout::to_string(columns));
  wire::AddColumnsResponse response;
  ask(&Stub::PrepareAsyncAddColumns, request, attempts_, response);
  (void)learn(response.schema());
}

wire::StatsResponse RemoteCollection::stats(const Attempts& attempts) const {
  wire::StatsResponse response;
  ask(&Stub::PrepareAsyncStats, wire::StatsRequest(), attempts, response);
  return response;
}

void RemoteCollection::check(const changes::RowBatch& batch) const {
  const auto& [rows, ids, attributes] = batch;
  if (rows.type != shape_.type || rows.dimension != shape_.dimension) {
    throw StatusError(StatusCode::invalid_argument,
                      "rows of {} x {} do not fit a collection of {} x {}", rows.dimension,
                      to_string(rows.type), shape_.dimension, to_string(shape_.type));
  }
  changes::check_shape(batch, row_shape().schema);
  if (const auto faulty = find_faulty_row(rows, shape_.metric)) {
    throw StatusError(StatusCode::invalid_argument, "row {} (id {}) {}", faulty->row,
                      ids[faulty->row], to_string(faulty->fault));
  }
  std::unordered_set<std::uint64_t> seen;
  for (const std::uint64_t id : ids) {
    if (!seen.insert(id).second) throw Error("id {} comes twice in one batch", id);
  }
}

Attempts RemoteCollection::attempts_within(const changes::Patience& patience) const {
  Attempts attempts = attempts_;
  attempts.interrupted = patience.interrupted;
  if (patience.until == changes::Patience::kWithoutEnd) return attempts;
  const Ticks now = now_ticks();
  const double us = patience.until > now ? ticks_to_us(patience.until - now) : 0;
  attempts.deadline = std::chrono::milliseconds(static_cast<std::int64_t>(us / 1e3) + 1);
  return attempts;
}

void RemoteCollection::insert(const changes::RowBatch& batch, const changes::Patience& patience,
                              changes::Receipt& receipt) {
  const std::size_t row_bytes = packed_bytes(shape_.stored_type, shape_.dimension);
  std::size_t next = 0;
  do {
    const changes::RowBatch rest = batch.part(next, batch.rows.count - next);
    const std::size_t whole = rest.attributes.count() == 0
                                  ? rest.rows.count
                                  : layout::changes_per_record(row_bytes, rest.attributes);
    const std::size_t count = std::min(rest.rows.count, whole);
    insert_part(rest.part(0, count), attempts_within(patience), receipt);
    next += count;
  } while (next < batch.rows.count);
}

void RemoteCollection::insert_part(const changes::RowBatch& part, const Attempts& attempts,
                                   changes::Receipt& receipt) {
  const VectorView& rows = part.rows;
  auto request = request_of<wire::InsertRequest>(part.ids);
  request.set_type(to_wire(rows.type));
  request.set_dimension(rows.dimension);
  const std::size_t row_bytes = packed_bytes(rows.type, rows.dimension);
  for (std::size_t i = 0; i < rows.count; ++i) {
    request.mutable_rows()->append(reinterpret_cast<const char*>(rows.row(i)), row_bytes);
  }
  add_attributes(part.attributes, request);
  wire::InsertResponse response;
  ask(&Stub::PrepareAsyncInsert, request, attempts, response);
  require_sound(fault_of(response, rows.count));
  receipt +=
      {.version = response.version(), .done = response.done(), .replaced = response.replaced()};
}

void RemoteCollection::erase(std::span<const std::uint64_t> ids, const changes::Patience& patience,
                             changes::Receipt& receipt) {
  wire::DeleteResponse response;
  ask(&Stub::PrepareAsyncDelete, request_of<wire::DeleteRequest>(ids), attempts_within(patience),
      response);
  require_sound(fault_of(response, ids.size()));
  receipt += receipt_in(response);
}

changes::FoundRows RemoteCollection::get(std::span<const std::uint64_t> ids,
                                         const changes::Patience& patience) const {
  wire::GetResponse response;
  ask(&Stub::PrepareAsyncGet, request_of<wire::GetRequest>(ids), attempts_within(patience),
      response);
  require_sound(fault_of(
      response, {{shape_.stored_type, shape_.dimension}, ids.size(), learn(response.schema())}));
  const auto& found = response.found();
  const auto* const bytes = reinterpret_cast<const std::byte*>(response.rows().data());
  return {.version = response.version(),
          .found = {found.begin(), found.end()},
          .rows = {bytes, bytes + response.rows().size()},
          .attributes = layout::Tuples::copy_of(attributes_in(response))};
}

changes::ListedRows RemoteCollection::list(const changes::Listing& asked,
                                           const changes::Patience& patience) const {
  wire::ListRequest request;
  request.set_filter(asked.filter);
  request.set_from(asked.from);
  request.set_most(static_cast<std::uint32_t>(std::min(asked.most, shape_.batch_ids)));
  request.set_attributes(asked.attributes);
  wire::ListResponse response;
  ask(&Stub::PrepareAsyncList, request, attempts_within(patience), response);
  require_sound(fault_of(response, asked, learn(response.schema())));
  return {.version = response.version(),
          .matches = response.matches(),
          .ids = {response.ids().begin(), response.ids().end()},
          .attributes = layout::Tuples::copy_of(attributes_in(response)),
          .more = response.more()};
}

void RemoteCollection::erase_matching(const std::string& filter, const changes::Patience& patience,
                                      changes::Receipt& receipt) {
  wire::DeleteRequest request;
  request.set_filter(filter.empty() ? "true" : filter);
  wire::DeleteResponse response;
  ask(&Stub::PrepareAsyncDelete, request, attempts_within(patience), response);
  receipt += receipt_in(response);
}

void RemoteCollection::update(std::span<const std::uint64_t> ids,
                              const changes::ColumnValues& update,
                              const changes::Patience& patience, changes::Receipt& receipt) {
  const changes::DistinctUpdate distinct(ids, update);
  receipt.missing += distinct.repeated();
  std::size_t next = 0;
  do {
    const std::size_t count = distinct.fitting(next, shape_.batch_ids);
    auto request = request_of<wire::UpdateRequest>(distinct.ids().subspan(next, count));
    add_values(distinct.part(next, count), request);
    wire::UpdateResponse response;
    ask(&Stub::PrepareAsyncUpdate, request, attempts_within(patience), response);
    require_sound(fault_of(response, count));
    receipt += receipt_in(response);
    next += count;
  } while (next < distinct.ids().size());
}

void RemoteCollection::update_matching(const std::string& filter,
                                       const changes::ColumnValues& update,
                                       const changes::Patience& patience,
                                       changes::Receipt& receipt) {
  wire::UpdateRequest request;
  request.set_filter(filter.empty() ? "true" : filter);
  add_values(update, request);
  wire::UpdateResponse response;
  ask(&Stub::PrepareAsyncUpdate, request, attempts_within(patience), response);
  receipt += receipt_in(response);
}

bool RemoteCollection::flush(const Interruption& give_up) {
  wire::FlushResponse response;
  return await_work(&Stub::PrepareAsyncFlush, wire::FlushRequest(),
                    attempts_within({.interrupted = give_up}), response);
}

bool RemoteCollection::compact(const Interruption& give_up) {
  wire::CompactResponse response;
  return await_work(&Stub::PrepareAsyncCompact, wire::CompactRequest(),
                    attempts_within({.interrupted = give_up}), response);
}

nlohmann::ordered_json RemoteCollection::now() const {
  return state_json(stats(attempts_));
}

}  // namespace farvec::client
