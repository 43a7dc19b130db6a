#include "transport/verbs/queue_pair.h"

#include <bit>
#include <cerrno>

#include "base/error.h"

namespace farvec::transport {
namespace {

/// A packet that is not answered within 4.096 us * 2^16 = 268 ms is sent again, six times, so that
/// a silent peer is given up after about two seconds. (rdma_cm's own choice for RoCE is eight times
/// that, and soft-RoCE takes seven retries to mean endless.)
constexpr std::uint8_t kAckTimeout = 16;
constexpr std::uint8_t kRetries = 6;

/// The attributes that libibverbs knows; the kernel's answer also has some of its own.
constexpr int kKnownAttributes = (IBV_QP_DEST_QPN << 1) - 1;

const char* device_of(const ibv_qp& pair) {
  return ibv_get_device_name(pair.context->device);
}

/// The attributes that rdma_cm knows for the change into `state`.
int attributes_for(rdma_cm_id& connection, ibv_qp_state state, ibv_qp_attr& attributes) {
  attributes = {};
  attributes.qp_state = state;
  int mask = 0;
  if (rdma_init_qp_attr(&connection, &attributes, &mask) != 0) {
    throw SystemError(errno, "asking RDMA's connection manager about a queue pair");
  }
  return mask & kKnownAttributes;
}

void change(ibv_qp& pair, ibv_qp_attr& attributes, int mask) {
  if (const int error = ibv_modify_qp(&pair, &attributes, mask); error != 0) {
    throw SystemError(error, "bringing a queue pair of {} into state {}", device_of(pair),
                      static_cast<int>(attributes.qp_state));
  }
}

}  // namespace

bool is_path_mtu(std::uint32_t bytes) {
  return std::has_single_bit(bytes) && bytes >= 256 && bytes <= 4096;
}

QueuePair make_queue_pair(rdma_cm_id& connection, QueuePairOptions& options) {
  ibv_qp_init_attr wanted{};
  wanted.send_cq = &options.queue;
  wanted.recv_cq = &options.queue;
  wanted.qp_type = IBV_QPT_RC;
  wanted.cap = {options.send_requests, 1, 1, 1, options.inline_bytes};
  QueuePair pair(ibv_create_qp(&options.domain, &wanted));
  if (!pair && options.inline_bytes > 0) {
    options.inline_bytes = 0;
    wanted.cap = {options.send_requests, 1, 1, 1, 0};
    pair.reset(ibv_create_qp(&options.domain, &wanted));
  }
  if (!pair) {
    throw SystemError(errno, "making a queue pair with {} work requests on {}",
                      options.send_requests, ibv_get_device_name(options.domain.context->device));
  }
  ibv_qp_attr attributes;
  const int mask = attributes_for(connection, IBV_QPS_INIT, attributes);
  attributes.qp_access_flags = static_cast<unsigned>(options.remote_access);
  change(*pair, attributes, mask | IBV_QP_ACCESS_FLAGS);
  return pair;
}

void bring_up(rdma_cm_id& connection, ibv_qp& pair, const PathTerms& terms) {
  ibv_qp_attr attributes;
  int mask = attributes_for(connection, IBV_QPS_RTR, attributes);
  attributes.path_mtu = static_cast<ibv_mtu>(std::countr_zero(terms.path_mtu_bytes) - 7);
  attributes.max_dest_rd_atomic = static_cast<std::uint8_t>(terms.reads_answered);
  change(pair, attributes, mask);
  mask = attributes_for(connection, IBV_QPS_RTS, attributes);
  attributes.max_rd_atomic = static_cast<std::uint8_t>(terms.reads_started);
  attributes.timeout = kAckTimeout;
  attributes.retry_cnt = kRetries;
  change(pair, attributes, mask);
}

void enter_error_state(ibv_qp& pair) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  (void)ibv_modify_qp(&pair, &attributes, IBV_QP_STATE);
}

}  // namespace farvec::transport
