// check_request() checks a request once, in full, when it is admitted; code after it checks nothing
// again.
#pragma once

#include <memory>
#include <string>

#include "compute_node/service/batch.h"
#include "compute_node/service/search_backend.h"
#include "graph/beam_search.h"
#include "rpc/compute_node.pb.h"

namespace farvec::compute_node {

struct RequestLimits {
  std::uint32_t max_k = 1000;
  std::uint32_t max_list = 1024;
  std::uint32_t max_queries = 1024;  ///< in one request
  std::uint32_t default_list = 100;
  std::uint32_t default_width = 4;
  std::uint32_t max_probe = 4096;
  std::uint32_t default_probe = 16;
  bool default_partial = false;
  std::uint32_t max_width = graph::kMaxWidth;
};

/// The most bytes of a request; gRPC refuses larger ones.
inline constexpr std::size_t kMostRequestBytes = std::size_t{64} << 20;

/// Says how many queries of `query_bytes` bytes one request may have: limits.max_queries, or as
/// many as kMostRequestBytes holds with what else is in a request.
std::uint32_t most_queries(const RequestLimits& limits, std::size_t query_bytes);

/// An Admission is the result of checking a request.
struct Admission {
  std::string wrong;  ///< says the field, what came and what is allowed; empty: nothing is wrong
  BatchShape shape;   ///< set when nothing is wrong, except its deadline
};

/// Returns the work of a search that compares all rows.
WorkUnits exact_work(const ServedIndex& index);

/// Checks the request. It refuses NaN and infinity as well.
Admission check_request(const v1::SearchRequest& request, const ServedIndex& index,
                        const RequestLimits& limits);

/// Copies the queries of a checked request into their slots in the index's stored form (cosine:
/// normalised).
std::unique_ptr<Batch> make_batch(const v1::SearchRequest& request, const ServedIndex& index,
                                  const BatchShape& shape);

v1::ElementType to_proto(ElementType type);
v1::Metric to_proto(Metric metric);

}  // namespace farvec::compute_node
