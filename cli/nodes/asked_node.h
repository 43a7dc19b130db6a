// Asking a node what it is and does.
#pragma once

#include <chrono>
#include <string>
#include <variant>

#include "cli/nodes/node_status.h"
#include "rpc/tls.h"

namespace farvec::cli {

using NodeAnswers = std::variant<ComputeNodeAnswers, MemoryNodeAnswers>;

/// Of a compute node or a memory node, within `patience` for everything; where nobody listens, at
/// once. Throws Error naming the address when it does not answer, or is neither.
NodeAnswers ask_node(const std::string& address, const rpc::TlsFiles& tls,
                     std::chrono::milliseconds patience);

}  // namespace farvec::cli
