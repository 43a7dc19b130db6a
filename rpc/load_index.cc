#include "rpc/load_index.h"

#include <filesystem>

#include "base/error.h"
#include "rpc/status.h"

namespace farvec::rpc {

memory_node::v1::LoadResponse load_index(memory_node::v1::MemoryNode::Stub& stub,
                                         grpc::ClientContext& context, const LoadIndexCall& call) {
  memory_node::v1::LoadRequest request;
  request.set_index(std::filesystem::absolute(call.index).string());
  memory_node::v1::LoadResponse response;
  context.set_deadline(std::chrono::system_clock::now() + call.timeout);
  const grpc::Status status = stub.Load(&context, request, &response);
  if (!status.ok()) throw Error("memory node {}: {}", call.node, describe(status));
  return response;
}

}  // namespace farvec::rpc
