#include "rpc/load_index.h"

#include "base/error.h"
#include "base/file_names.h"
#include "rpc/status.h"

namespace farvec::rpc {

std::string told_path(const std::filesystem::path& path) {
  std::string told = std::filesystem::absolute(path).string();
  if (is_utf8(told)) return told;
  throw Error("'{}' is no UTF-8, as the words that memory nodes are told must be: rename it", told);
}

memory_node::v1::LoadResponse load_index(memory_node::v1::MemoryNode::Stub& stub,
                                         grpc::ClientContext& context, const LoadIndexCall& call) {
  memory_node::v1::LoadRequest request;
  request.set_index(told_path(call.index));
  memory_node::v1::LoadResponse response;
  context.set_deadline(std::chrono::system_clock::now() + call.timeout);
  const grpc::Status status = stub.Load(&context, request, &response);
  if (!status.ok()) throw Error("memory node {}: {}", call.node, describe(status));
  return response;
}

}  // namespace farvec::rpc
