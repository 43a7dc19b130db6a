#include "client/remote_results.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "client/node_answers.h"

namespace farvec::client {
namespace {

namespace v1 = compute_node::v1;

search::QueryCounts counts_of(const v1::QueryCounts& counts) {
  return {.hops = counts.hops(),
          .reads = counts.reads(),
          .cache_hits = counts.cache_hits(),
          .estimates = counts.estimates(),
          .distances = counts.distances(),
          .bytes = counts.bytes(),
          .lost = counts.lost(),
          .matches = counts.matches(),
          .walks = counts.walks(),
          .scans = counts.scans(),
          .bridges = counts.bridges(),
          .attribute_reads = counts.attribute_reads(),
          .rerank_reads = counts.rerank_reads(),
          .pool_misses = counts.pool_misses(),
          .clusters = counts.clusters(),
          .group_reads = counts.group_reads(),
          .list_reads = counts.list_reads(),
          .stray_reads = counts.stray_reads(),
          .lines = {}};
}

template <typename Ids, typename Out>
void copy_row(const Ids& ids, std::size_t row, Out& out) {
  std::copy(ids.begin(), ids.end(), out.begin() + static_cast<std::ptrdiff_t>(row));
}

/// Appends the attributes of k neighbours, of which some may be missing. Results come in the order
/// of the queries.
void add_attributes(const v1::QueryResult& result, std::size_t k, layout::Tuples& attributes) {
  const layout::TupleView rows = attributes_in(result);
  attributes.append(rows);
  for (std::size_t i = rows.count(); i < k; ++i) attributes.append(layout::null_tuple());
}

void add_result(const v1::QueryResult& result, std::size_t query, bool select,
                RemoteResults& results) {
  dataset::GroundTruth& out = results.neighbors;
  const std::size_t row = query * out.k;
  const bool narrow = result.ids_size() == result.distances_size();
  if (!results.user_ids.empty()) {
    if (result.user_ids_size() > 0) {
      copy_row(result.user_ids(), row, results.user_ids);
    } else {
      copy_row(result.ids(), row, results.user_ids);
    }
  } else if (!narrow) {
    throw Error(
        "query {}: there are ids of more than 32 of their 64 bits, which result files do "
        "not hold: read user_ids of rpc/compute_node.proto",
        query);
  }
  copy_row(result.ids(), row, out.ids);
  copy_row(result.distances(), row, out.distances);
  if (select) add_attributes(result, out.k, results.attributes);
  results.totals += counts_of(result.counts());
  results.coverage = std::min<double>(results.coverage, result.coverage());
}

}  // namespace

RemoteResults empty_results(std::size_t queries, std::uint32_t k, bool wide_ids) {
  RemoteResults results;
  dataset::GroundTruth& out = results.neighbors;
  out.queries = queries;
  out.k = k;
  out.ids.assign(out.queries * out.k, kInvalidNode);
  out.distances.assign(out.queries * out.k, std::numeric_limits<float>::infinity());
  if (wide_ids) results.user_ids.assign(out.queries * out.k, search::kNoUserId);
  return results;
}

void add_results(const v1::SearchResponse& response, std::size_t first, bool select,
                 RemoteResults& results) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(response.results_size()); ++i) {
    add_result(response.results(static_cast<int>(i)), first + i, select, results);
  }
}

}  // namespace farvec::client
