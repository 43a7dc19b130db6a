#include "cli/remote_search.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "rpc/channel.h"
#include "rpc/compute_node.grpc.pb.h"
#include "rpc/status.h"

namespace farvec::cli {
namespace {

namespace v1 = compute_node::v1;

v1::ElementType to_proto(ElementType type) {
  // The wire's numbers are the library's, one up.
  return static_cast<v1::ElementType>(static_cast<int>(type) + 1);
}

/// Rows [begin, begin + count) of the file as one request.
v1::SearchRequest make_request(const RemoteSearchOptions& options, dataset::VectorReader& queries,
                               std::uint64_t begin, std::size_t count) {
  const dataset::VectorFileInfo& info = queries.info();
  v1::SearchRequest request;
  request.set_type(to_proto(info.type));
  request.set_dimension(info.dimension);
  request.set_k(options.k);
  if (options.list != 0) request.set_list(options.list);
  if (options.width != 0) request.set_width(options.width);
  if (options.probe != 0) request.set_probe(options.probe);
  if (std::isfinite(options.prune_ratio)) request.set_prune_ratio(options.prune_ratio);
  if (options.partial) request.set_partial(true);
  std::string row(info.row_bytes(), '\0');
  for (std::size_t i = 0; i < count; ++i) {
    queries.read_rows(begin + i, 1, reinterpret_cast<std::byte*>(row.data()));
    request.add_queries(row);
  }
  return request;
}

v1::SearchResponse call(v1::ComputeNode::Stub& stub, const v1::SearchRequest& request,
                        const RemoteSearchOptions& options) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + options.deadline);
  v1::SearchResponse response;
  const grpc::Status status = stub.Search(&context, request, &response);
  if (!status.ok()) throw Error("compute node {}: {}", options.address, rpc::describe(status));
  if (response.results_size() != request.queries_size()) {
    throw Error("compute node {}: {} results came for {} queries", options.address,
                response.results_size(), request.queries_size());
  }
  return response;
}

void copy_result(const v1::QueryResult& result, std::size_t query, dataset::GroundTruth& out) {
  const int found = result.ids_size();
  if (found > static_cast<int>(out.k) || result.distances_size() != found) {
    throw Error("query {}: the compute node sent {} ids and {} distances for k = {}", query, found,
                result.distances_size(), out.k);
  }
  std::copy(result.ids().begin(), result.ids().end(), out.ids.begin() + query * out.k);
  std::copy(result.distances().begin(), result.distances().end(),
            out.distances.begin() + query * out.k);
}

}  // namespace

RemoteResults search_remote(const RemoteSearchOptions& options, dataset::VectorReader& queries) {
  rpc::ConnectOptions connect;
  connect.wait = options.connect_wait;
  connect.tls = rpc::load_tls(options.tls);
  const auto channel = rpc::connect(rpc::parse_address(options.address), connect);
  const auto stub = v1::ComputeNode::NewStub(channel);
  RemoteResults results;
  dataset::GroundTruth& out = results.neighbors;
  out.queries = queries.info().count;
  out.k = options.k;
  out.ids.assign(out.queries * out.k, kInvalidNode);
  out.distances.assign(out.queries * out.k, std::numeric_limits<float>::infinity());
  const std::size_t step = std::max<std::size_t>(1, options.queries_per_call);
  for (std::size_t begin = 0; begin < out.queries; begin += step) {
    const std::size_t count = std::min(step, out.queries - begin);
    const auto response = call(*stub, make_request(options, queries, begin, count), options);
    for (std::size_t i = 0; i < count; ++i) {
      const v1::QueryResult& result = response.results(static_cast<int>(i));
      if (result.status() != 0) {
        throw Error("compute node {}: query {}: {}", options.address, begin + i, result.message());
      }
      copy_result(result, begin + i, out);
      results.coverage = std::min<double>(results.coverage, result.coverage());
    }
  }
  return results;
}

}  // namespace farvec::cli
