// Opens an RDMA device, and asks what it can do and which events it has.
#pragma once

#include <cstdint>
#include <string>

#include "transport/verbs/handles.h"

namespace farvec::transport {

/// What a device can do for one-sided reads and writes; both ends ask instead of assuming.
struct DeviceLimits {
  std::uint32_t max_reads_started = 0;   ///< outstanding reads of one queue pair, as initiator
  std::uint32_t max_reads_answered = 0;  ///< outstanding reads of one queue pair, as responder
  std::uint32_t max_work_requests = 0;
  std::uint32_t max_message_bytes = 0;
  /// Path MTU of the port now; it follows its network device's MTU.
  std::uint32_t path_mtu_bytes = 0;
  bool memory_windows = false;  ///< whether it has windows of type 2B
  std::string device;
};

/// Opens a context for the caller alone: the device's events come to each context, and an event
/// that was told to one is not told to another. (Some devices also give each context its own
/// doorbell.) Throws SystemError.
DeviceContext open_device(ibv_device& device);

/// Throws SystemError.
DeviceLimits query_limits(ibv_context& device, std::uint8_t port);

/// Says whether the port is down. False also when the device does not answer because it was
/// removed.
bool port_is_down(ibv_context& device, std::uint8_t port);

enum class DeviceEventKind {
  port_down,
  port_up,
  device_gone,              ///< removed, or broken for good
  queue_pair_failed,        ///< `object` is the ibv_qp
  completion_queue_failed,  ///< `object` is the ibv_cq
  other,                    ///< nothing that ends a connection
};

struct DeviceEvent {
  DeviceEventKind kind = DeviceEventKind::other;
  ibv_event_type type = IBV_EVENT_CLIENT_REREGISTER;
  std::uint8_t port = 0;  ///< port of port_down and port_up
  const void* object = nullptr;
};

DeviceEvent classify(const ibv_async_event& event);

/// Takes the next event of a context that open_device() made; false when there is none now. A
/// device that was removed gives device_gone on each call.
bool take_device_event(ibv_context& device, DeviceEvent& event);

/// DeviceEventCounts are the number of events of each kind.
struct DeviceEventCounts {
  std::uint32_t port_down = 0;
  std::uint32_t port_up = 0;
  std::uint32_t device_gone = 0;
  std::uint32_t queue_failed = 0;  ///< queue pairs and completion queues
  std::uint32_t other = 0;

  void add(DeviceEventKind kind);
};

}  // namespace farvec::transport
