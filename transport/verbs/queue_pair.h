// Reliable queue pairs on rdma_cm connections. The states are ours to change, not librdmacm's: it
// would take the client's path MTU at both ends, and allow remote writes to every queue pair.
#pragma once

#include "transport/verbs/handles.h"

namespace farvec::transport {

/// What the two ends have agreed upon.
struct PathTerms {
  std::uint32_t path_mtu_bytes = 0;
  std::uint32_t reads_started = 0;   ///< outstanding at once, by this end
  std::uint32_t reads_answered = 0;  ///< by the other end
};

/// 256, 512, 1024, 2048 or 4096.
bool is_path_mtu(std::uint32_t bytes);

/// In its initial state, with one receive and one scatter entry per request: receives can be
/// posted. `remote_access` is the most that any key lets the peer do through it. When the device
/// has less room in its requests than `inline_bytes` there is none, and `inline_bytes` becomes 0.
/// Throws SystemError.
struct QueuePairOptions {
  ibv_pd& domain;
  ibv_cq& queue;
  std::uint32_t send_requests = 0;
  int remote_access = 0;
  std::uint32_t inline_bytes = 0;
};
QueuePair make_queue_pair(rdma_cm_id& connection, QueuePairOptions& options);

/// To ready to send. Behind the peer's answer at the client, before its own at the node. Throws
/// SystemError.
void bring_up(rdma_cm_id& connection, ibv_qp& pair, const PathTerms& terms);

/// Every work request then completes, flushed, and its memory is the caller's again. What the peer
/// sends is not answered any more.
void enter_error_state(ibv_qp& pair);

}  // namespace farvec::transport
