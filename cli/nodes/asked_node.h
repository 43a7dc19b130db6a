// Asks a node what it is and does.
#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <string>
#include <variant>

#include "cli/nodes/node_status.h"
#include "rpc/tls.h"

namespace farvec::cli {

using NodeAnswers = std::variant<ComputeNodeAnswers, MemoryNodeAnswers>;

/// Asks one compute node or memory node, over a connection that is kept as long as the node
/// answers.
class AskedNode {
 public:
  /// `tls` may be null. The constructor does not connect; ask() does.
  AskedNode(std::string address, std::shared_ptr<const rpc::Tls> tls);

  /// Asks everything within `patience_s` seconds; fails at once where no program listens. Throws an
  /// Error that names the address when the node does not answer, or is neither kind of node; the
  /// next call connects anew.
  NodeAnswers ask(double patience_s);

  const std::string& address() const { return address_; }

 private:
  std::string address_;
  std::shared_ptr<const rpc::Tls> tls_;
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace farvec::cli
