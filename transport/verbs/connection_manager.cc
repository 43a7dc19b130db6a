#include "transport/verbs/connection_manager.h"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace farvec::transport {
namespace {

using Clock = std::chrono::steady_clock;

int milliseconds_until(Clock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
  return static_cast<int>(std::clamp<long>(left, 0, 1'000'000));
}

std::uint32_t mtu_bytes(ibv_mtu mtu) {
  return 128u << static_cast<unsigned>(mtu);
}

}  // namespace

EventChannel open_event_channel() {
  EventChannel channel(rdma_create_event_channel());
  if (!channel) {
    throw SystemError(errno,
                      "opening RDMA's connection manager: is there an RDMA device here (`rdma "
                      "link`), and is the module rdma_ucm loaded? Soft-RoCE: scripts/lab/lab.sh");
  }
  if (fcntl(channel->fd, F_SETFL, O_NONBLOCK) != 0) {
    throw SystemError(errno, "setting up RDMA's connection manager");
  }
  return channel;
}

bool take_event(rdma_event_channel& channel, ConnectionEvent& event) {
  rdma_cm_event* raw = nullptr;
  if (rdma_get_cm_event(&channel, &raw) != 0) {
    if (errno == EAGAIN || errno == EINTR) return false;
    throw SystemError(errno, "reading RDMA's connection events");
  }
  event = {};
  event.type = raw->event;
  event.id = raw->id;
  event.status = raw->status;
  const rdma_conn_param& parameters = raw->param.conn;
  const bool about_connection = raw->event == RDMA_CM_EVENT_CONNECT_REQUEST ||
                                raw->event == RDMA_CM_EVENT_ESTABLISHED ||
                                raw->event == RDMA_CM_EVENT_REJECTED;
  if (about_connection) {
    event.initiator_depth = parameters.initiator_depth;
    event.responder_resources = parameters.responder_resources;
    if (parameters.private_data != nullptr) {
      const auto* bytes = static_cast<const std::byte*>(parameters.private_data);
      event.private_data.assign(bytes, bytes + parameters.private_data_len);
    }
  }
  rdma_ack_cm_event(raw);
  return true;
}

ConnectionEvent await_event(rdma_event_channel& channel, rdma_cm_event_type type,
                            Clock::time_point end, const std::string& peer) {
  for (;;) {
    ConnectionEvent event;
    if (take_event(channel, event)) {
      if (event.type == type) return event;
      if (event.type == RDMA_CM_EVENT_REJECTED) return event;
      throw Error("connecting to {} over RDMA: {} ({})", peer, rdma_event_str(event.type),
                  std::strerror(std::abs(event.status)));
    }
    pollfd polled{channel.fd, POLLIN, 0};
    const int left = milliseconds_until(end);
    if (left == 0 || (poll(&polled, 1, left) == 0 && Clock::now() >= end)) {
      throw Error("connecting to {} over RDMA: no {} in time", peer, rdma_event_str(type));
    }
  }
}

DeviceLimits query_limits(const rdma_cm_id& id) {
  ibv_device_attr device{};
  ibv_port_attr port{};
  if (const int error = ibv_query_device(id.verbs, &device); error != 0) {
    throw SystemError(error, "asking RDMA device {} for its limits",
                      ibv_get_device_name(id.verbs->device));
  }
  if (const int error = ibv_query_port(id.verbs, id.port_num, &port); error != 0) {
    throw SystemError(error, "asking port {} of RDMA device {} for its limits", id.port_num,
                      ibv_get_device_name(id.verbs->device));
  }
  DeviceLimits limits;
  // rdma_cm carries both depths in 8 bits.
  limits.max_reads_started = static_cast<std::uint32_t>(std::min(device.max_qp_init_rd_atom, 255));
  limits.max_reads_answered = static_cast<std::uint32_t>(std::min(device.max_qp_rd_atom, 255));
  limits.max_work_requests = static_cast<std::uint32_t>(std::min(device.max_qp_wr, device.max_cqe));
  limits.max_message_bytes = port.max_msg_sz;
  limits.path_mtu_bytes = mtu_bytes(port.active_mtu);
  limits.memory_windows = (device.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B) != 0;
  limits.device = ibv_get_device_name(id.verbs->device);
  return limits;
}

}  // namespace farvec::transport
