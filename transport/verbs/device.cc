#include "transport/verbs/device.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"

namespace farvec::transport {

DeviceContext open_device(ibv_device& device) {
  DeviceContext context(ibv_open_device(&device));
  if (!context || fcntl(context->async_fd, F_SETFL, O_NONBLOCK) != 0) {
    throw SystemError(errno, "opening RDMA device {}", ibv_get_device_name(&device));
  }
  return context;
}

DeviceLimits query_limits(ibv_context& device, std::uint8_t port) {
  DeviceLimits limits;
  limits.device = ibv_get_device_name(device.device);
  ibv_device_attr has{};
  ibv_port_attr port_has{};
  if (const int error = ibv_query_device(&device, &has); error != 0) {
    throw SystemError(error, "asking RDMA device {} for its limits", limits.device);
  }
  if (const int error = ibv_query_port(&device, port, &port_has); error != 0) {
    throw SystemError(error, "asking port {} of RDMA device {} for its limits", port,
                      limits.device);
  }
  // rdma_cm carries both depths in 8 bits.
  limits.max_reads_started = static_cast<std::uint32_t>(std::min(has.max_qp_init_rd_atom, 255));
  limits.max_reads_answered = static_cast<std::uint32_t>(std::min(has.max_qp_rd_atom, 255));
  limits.max_work_requests = static_cast<std::uint32_t>(std::min(has.max_qp_wr, has.max_cqe));
  limits.max_message_bytes = port_has.max_msg_sz;
  limits.path_mtu_bytes = 128u << static_cast<unsigned>(port_has.active_mtu);
  limits.memory_windows = (has.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B) != 0;
  return limits;
}

bool port_is_down(ibv_context& device, std::uint8_t port) {
  ibv_port_attr has{};
  return ibv_query_port(&device, port, &has) == 0 && has.state != IBV_PORT_ACTIVE;
}

DeviceEvent classify(const ibv_async_event& event) {
  const auto port = static_cast<std::uint8_t>(event.element.port_num);
  switch (event.event_type) {
    case IBV_EVENT_PORT_ERR:
      return {DeviceEventKind::port_down, event.event_type, port, nullptr};
    case IBV_EVENT_PORT_ACTIVE:
      return {DeviceEventKind::port_up, event.event_type, port, nullptr};
    case IBV_EVENT_DEVICE_FATAL:
      return {DeviceEventKind::device_gone, event.event_type, 0, nullptr};
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_PATH_MIG_ERR:
      return {DeviceEventKind::queue_pair_failed, event.event_type, 0, event.element.qp};
    case IBV_EVENT_CQ_ERR:
      return {DeviceEventKind::completion_queue_failed, event.event_type, 0, event.element.cq};
    default:
      return {DeviceEventKind::other, event.event_type, 0, nullptr};
  }
}

bool take_device_event(ibv_context& device, DeviceEvent& event) {
  ibv_async_event raw{};
  if (ibv_get_async_event(&device, &raw) == 0) {
    event = classify(raw);
    ibv_ack_async_event(&raw);
    return true;
  }
  if (errno == EAGAIN || errno == EINTR) return false;
  event = {DeviceEventKind::device_gone, IBV_EVENT_DEVICE_FATAL, 0, nullptr};
  return true;
}

void DeviceEventCounts::add(DeviceEventKind kind) {
  switch (kind) {
    case DeviceEventKind::port_down:
      ++port_down;
      return;
    case DeviceEventKind::port_up:
      ++port_up;
      return;
    case DeviceEventKind::device_gone:
      ++device_gone;
      return;
    case DeviceEventKind::queue_pair_failed:
    case DeviceEventKind::completion_queue_failed:
      ++queue_failed;
      return;
    case DeviceEventKind::other:
      ++other;
      return;
  }
}

}  // namespace farvec::transport
