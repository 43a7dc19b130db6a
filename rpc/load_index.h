// load_index() asks a memory node to load another index beside the one that it serves.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "rpc/memory_node.grpc.pb.h"

namespace farvec::rpc {

struct LoadIndexCall {
  std::string node;   ///< its address, for messages
  std::string index;  ///< directory on the node's machine
  std::chrono::milliseconds timeout{3'600'000};
};

/// Returns the path in the form that a memory node is told: absolute. Throws Error where it is not
/// UTF-8, which text in a message has to be.
std::string told_path(const std::filesystem::path& path);

/// Returns when the node serves the index. `context` is fresh; cancelling it ends the load. Throws
/// Error naming the node; then the node serves what it served before.
memory_node::v1::LoadResponse load_index(memory_node::v1::MemoryNode::Stub& stub,
                                         grpc::ClientContext& context, const LoadIndexCall& call);

}  // namespace farvec::rpc
