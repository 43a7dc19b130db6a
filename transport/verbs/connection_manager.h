// rdma_cm's events with deadlines.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "transport/verbs/handles.h"

namespace farvec::transport {

/// A copy of one event; the original has been given back.
struct ConnectionEvent {
  rdma_cm_event_type type = RDMA_CM_EVENT_ADDR_ERROR;
  rdma_cm_id* id = nullptr;
  int status = 0;
  std::vector<std::byte> private_data;
  std::uint8_t initiator_depth = 0;
  std::uint8_t responder_resources = 0;
};

/// A channel whose descriptor does not block. Throws SystemError; on a machine without RDMA the
/// message says so.
EventChannel open_event_channel();

/// False when there is no event now. Throws SystemError.
bool take_event(rdma_event_channel& channel, ConnectionEvent& event);

/// Waits for an event of `type` until `end`. Throws Error naming `peer` on any other event (a
/// refusal, an unreachable host) or when the time is over.
ConnectionEvent await_event(rdma_event_channel& channel, rdma_cm_event_type type,
                            std::chrono::steady_clock::time_point end, const std::string& peer);

/// What a device can do for one-sided reads; both ends ask instead of assuming.
struct DeviceLimits {
  std::uint32_t max_reads_started = 0;   ///< outstanding reads of one queue pair, as initiator
  std::uint32_t max_reads_answered = 0;  ///< the same as responder
  std::uint32_t max_work_requests = 0;
  std::uint32_t max_message_bytes = 0;
  std::uint32_t path_mtu_bytes = 0;
  bool memory_windows = false;  ///< type 2B
  std::string device;
};

/// Of the device and port that `id` has been resolved to. Throws SystemError.
DeviceLimits query_limits(const rdma_cm_id& id);

}  // namespace farvec::transport
