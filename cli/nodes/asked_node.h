// Asking a node what it is and does.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "cli/nodes/node_status.h"
#include "rpc/tls.h"

namespace farvec::cli {

using NodeAnswers = std::variant<ComputeNodeAnswers, MemoryNodeAnswers>;

/// Of a compute node or a memory node, within so many seconds for everything; where nobody listens,
/// at once. `tls` may be null. Throws Error naming the address when it does not answer, or is
/// neither.
NodeAnswers ask_node(const std::string& address, const std::shared_ptr<const rpc::Tls>& tls,
                     double patience_s);

}  // namespace farvec::cli
