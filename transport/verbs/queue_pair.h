// Makes reliable queue pairs on rdma_cm connections. This code changes their states, not librdmacm,
// which would take the client's path MTU at both ends and allow remote writes to every queue pair.
#pragma once

#include "transport/verbs/handles.h"

namespace farvec::transport {

/// PathTerms are the terms on which the two ends have agreed.
struct PathTerms {
  std::uint32_t path_mtu_bytes = 0;
  std::uint32_t reads_started = 0;   ///< this end's outstanding reads at once
  std::uint32_t reads_answered = 0;  ///< the other end's outstanding reads at once
};

/// Says whether it is 256, 512, 1024, 2048 or 4096.
bool is_path_mtu(std::uint32_t bytes);

/// The queue pair begins in its initial state, with one receive and one scatter entry per request:
/// receives can be posted. `remote_access` is the most that any key lets the peer do through it.
/// When the device has less room in its requests than `inline_bytes`, nothing is sent inline and
/// `inline_bytes` becomes 0. Throws SystemError.
struct QueuePairOptions {
  ibv_pd& domain;
  ibv_cq& queue;
  std::uint32_t send_requests = 0;
  int remote_access = 0;
  std::uint32_t inline_bytes = 0;
};
QueuePair make_queue_pair(rdma_cm_id& connection, QueuePairOptions& options);

/// Brings the queue pair to ready to send. The client calls it after the peer's answer, the node
/// before its own answer. Throws SystemError.
void bring_up(rdma_cm_id& connection, ibv_qp& pair, const PathTerms& terms);

/// Makes every work request complete, flushed, and its memory belongs to the caller again. The
/// peer's requests are not answered any more.
void enter_error_state(ibv_qp& pair);

}  // namespace farvec::transport
