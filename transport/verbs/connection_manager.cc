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
                                raw->event == RDMA_CM_EVENT_CONNECT_RESPONSE ||
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

}  // namespace farvec::transport
