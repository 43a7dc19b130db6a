// Puts what a node tells about itself into words for people and JSON for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "rpc/collection.grpc.pb.h"
#include "rpc/compute_node.grpc.pb.h"
#include "rpc/memory_node.grpc.pb.h"

namespace farvec::cli {

struct ComputeNodeAnswers {
  compute_node::v1::DescribeResponse describe;
  compute_node::v1::StatsResponse stats;
  /// The statistics of a collection that the node changes.
  std::optional<collection::v1::StatsResponse> collection;
};

struct MemoryNodeAnswers {
  memory_node::v1::DescribeResponse describe;
  memory_node::v1::StatsResponse stats;
};

struct NodeStatus {
  bool serving = false;
  nlohmann::ordered_json facts;
  std::string text;  ///< lines for people, without the last line feed
};

/// Returns a word like "serving".
const char* state_word(memory_node::v1::State state);

NodeStatus status_of(const std::string& address, const ComputeNodeAnswers& answers);
/// Throws Error when what the node sent is no manifest.
NodeStatus status_of(const std::string& address, const MemoryNodeAnswers& answers);

}  // namespace farvec::cli
