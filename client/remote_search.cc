#include "client/remote_search.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include "base/status_error.h"
#include "client/backoff.h"
#include "client/cancellable_call.h"
#include "client/node_answers.h"
#include "rpc/status.h"

namespace farvec::client {
namespace {

namespace v1 = compute_node::v1;

/// Makes one request of rows [begin, begin + count) of the file.
v1::SearchRequest make_request(const RemoteSearchOptions& options, dataset::VectorReader& queries,
                               std::uint64_t begin, std::size_t count) {
  const dataset::VectorFileInfo& info = queries.info();
  v1::SearchRequest request = request_template(options.parameters, info.type, info.dimension);
  std::string row(info.row_bytes(), '\0');
  for (std::size_t i = 0; i < count; ++i) {
    queries.read_rows(begin + i, 1, reinterpret_cast<std::byte*>(row.data()));
    request.add_queries(row);
  }
  return request;
}

/// Says how one attempt ended.
struct Attempt {
  v1::SearchResponse response;
  std::string wrong;                       ///< empty: every query has its result
  StatusCode code = StatusCode::internal;  ///< code of what is wrong
  bool passes = false;                     ///< what is wrong may be right later
  std::chrono::milliseconds retry_after{0};
};

bool may_pass(grpc::StatusCode code) {
  return code == grpc::StatusCode::RESOURCE_EXHAUSTED || code == grpc::StatusCode::UNAVAILABLE;
}

Attempt attempt(v1::ComputeNode::Stub& stub, const v1::SearchRequest& request,
                const RemoteSearchOptions& options) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + options.deadline);
  Attempt made;
  const grpc::Status status =
      cancellable_call(stub, &v1::ComputeNode::Stub::PrepareAsyncSearch, context, request,
                       options.interrupted, made.response);
  if (!status.ok()) {
    made.wrong = rpc::describe(status);
    made.code = rpc::to_status_code(status.error_code());
    made.passes = may_pass(status.error_code());
    made.retry_after = retry_after(context);
    return made;
  }
  made.wrong = fault_of(made.response, {static_cast<std::size_t>(request.queries_size()),
                                        request.k(), options.select});
  if (!made.wrong.empty()) return made;
  for (const v1::QueryResult& result : made.response.results()) {
    if (result.status() == 0) continue;
    const auto code = static_cast<grpc::StatusCode>(result.status());
    made.wrong = rpc::describe({code, result.message()});
    made.code = rpc::to_status_code(code);
    made.passes = may_pass(code);
    break;
  }
  return made;
}

/// Makes attempts until one succeeds, at most 1 + options.retries.
v1::SearchResponse call(v1::ComputeNode::Stub& stub, const v1::SearchRequest& request,
                        const RemoteSearchOptions& options, Random& random) {
  Backoff backoff(options.retries, random);
  for (;;) {
    Attempt made = attempt(stub, request, options);
    if (made.wrong.empty()) return std::move(made.response);
    if (asked_to_end(options.interrupted)) throw WorkInterrupted();
    const auto wait = made.passes ? backoff.next(made.retry_after) : std::nullopt;
    if (!wait) {
      throw StatusError(made.code, "compute node {}: {}", options.node.address, made.wrong);
    }
    if (options.again) options.again();
    cancellable_pause(*wait, options.interrupted);
  }
}

}  // namespace

RemoteResults search_remote(const RemoteSearchOptions& options, dataset::VectorReader& queries) {
  const auto stub = connect_to_node(options.node);
  check_limits_of_node(*stub, options.node, options.parameters);
  return search_node(*stub, options, queries);
}

RemoteResults search_node(v1::ComputeNode::Stub& stub, const RemoteSearchOptions& options,
                          dataset::VectorReader& queries) {
  Random random(std::random_device{}());
  const std::size_t all = queries.info().count;
  RemoteResults results = empty_results(all, options.parameters.k, options.wide_ids);
  const std::size_t step = std::max<std::size_t>(1, options.queries_per_call);
  for (std::size_t begin = 0; begin < all; begin += step) {
    if (asked_to_end(options.interrupted)) throw WorkInterrupted();
    const std::size_t count = std::min(step, all - begin);
    const auto request = make_request(options, queries, begin, count);
    add_results(call(stub, request, options, random), begin, !options.select.empty(), results);
    if (options.answered) options.answered(count);
  }
  return results;
}

}  // namespace farvec::client
