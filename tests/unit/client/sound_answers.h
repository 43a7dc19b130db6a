// Answers of a compute node in which nothing is wrong, for tests to begin with.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "rpc/collection.pb.h"
#include "rpc/compute_node.pb.h"

namespace farvec::client {

/// A graph of 1,000 vectors, 16 x f32.
inline compute_node::v1::DescribeResponse sound_description() {
  compute_node::v1::DescribeResponse node;
  node.set_attached(true);
  node.set_type(compute_node::v1::ELEMENT_TYPE_F32);
  node.set_stored_type(compute_node::v1::ELEMENT_TYPE_F32);
  node.set_metric(compute_node::v1::METRIC_L2);
  node.set_dimension(16);
  node.set_count(1000);
  node.set_layout("csr");
  node.set_max_k(1000);
  node.set_max_list(1024);
  node.set_max_width(64);
  node.set_max_queries_per_call(1024);
  return node;
}

/// What a result has of each; a sound one has `distances` of both ids, or of one of them.
struct ResultCounts {
  std::uint32_t ids = 0;
  std::uint32_t user_ids = 0;
  std::uint32_t distances = 0;
};

/// One query's, whose ids count up from 0 and whose user ids from `first_user_id`.
inline compute_node::v1::QueryResult& add_result(compute_node::v1::SearchResponse& response,
                                                 const ResultCounts& counts,
                                                 std::uint64_t first_user_id = 0) {
  compute_node::v1::QueryResult& result = *response.add_results();
  for (std::uint32_t i = 0; i < counts.ids; ++i) result.add_ids(i);
  for (std::uint32_t i = 0; i < counts.user_ids; ++i) result.add_user_ids(first_user_id + i);
  for (std::uint32_t i = 0; i < counts.distances; ++i) result.add_distances(0.5F);
  result.set_coverage(1);
  return result;
}

/// A collection of f32 in both places.
inline collection::v1::StatsResponse sound_state(std::uint32_t dimension) {
  collection::v1::StatsResponse state;
  state.set_type(collection::v1::ELEMENT_TYPE_F32);
  state.set_stored_type(collection::v1::ELEMENT_TYPE_F32);
  state.set_dimension(dimension);
  state.set_max_rows(500);
  state.set_max_ids(500);
  return state;
}

/// Rows of f16, for each id whether it was found.
inline collection::v1::GetResponse sound_rows(std::uint32_t dimension,
                                              std::initializer_list<bool> found) {
  collection::v1::GetResponse answer;
  answer.set_type(collection::v1::ELEMENT_TYPE_F16);
  answer.set_dimension(dimension);
  for (const bool one : found) {
    answer.add_found(one);
    if (one) answer.mutable_rows()->append(dimension * 2, 'r');
  }
  return answer;
}

}  // namespace farvec::client
