// What a node tells about itself, for people and for programs.
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
  /// Of a collection that the node changes.
  std::optional<collection::v1::StatsResponse> collection;
};

struct MemoryNodeAnswers {
  memory_node::v1::DescribeResponse describe;
  memory_node::v1::StatsResponse stats;
};

struct NodeStatus {
  bool serving = false;
  nlohmann::ordered_json facts;
  std::string text;  ///< lines, without the last line feed
};

/// "serving".
const char* state_word(memory_node::v1::State state);

NodeStatus status_of(const std::string& address, const ComputeNodeAnswers& answers);
/// Throws Error when the node's manifest is none.
NodeStatus status_of(const std::string& address, const MemoryNodeAnswers& answers);

}  // namespace farvec::cli
