// Asking a node what it is and does.
#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <string>
#include <variant>

#include "cli/nodes/node_status.h"
#include "rpc/tls.h"

namespace farvec::cli {

using NodeAnswers = std::variant<ComputeNodeAnswers, MemoryNodeAnswers>;

/// A compute node or a memory node, with one connection for as long as it answers.
class AskedNode {
 public:
  /// `tls` may be null. Connects when it is asked.
  AskedNode(std::string address, std::shared_ptr<const rpc::Tls> tls);

  /// Within so many seconds for everything; where nobody listens, at once. Throws Error naming the
  /// address when it does not answer, or is neither; the next call connects anew.
  NodeAnswers ask(double patience_s);

  const std::string& address() const { return address_; }

 private:
  std::string address_;
  std::shared_ptr<const rpc::Tls> tls_;
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace farvec::cli
