// Waits for rdma_cm's events, with deadlines.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "transport/verbs/handles.h"

namespace farvec::transport {

/// A ConnectionEvent is a copy of one event; the original has been given back.
struct ConnectionEvent {
  rdma_cm_event_type type = RDMA_CM_EVENT_ADDR_ERROR;
  rdma_cm_id* id = nullptr;
  int status = 0;
  std::vector<std::byte> private_data;
  std::uint8_t initiator_depth = 0;
  std::uint8_t responder_resources = 0;
};

/// Opens a channel whose descriptor does not block. Throws SystemError; on a machine without RDMA
/// the message says so.
EventChannel open_event_channel();

/// Returns false when there is no event now. Throws SystemError.
bool take_event(rdma_event_channel& channel, ConnectionEvent& event);

/// Waits for an event of `type` until `end`. Throws Error naming `peer` on any other event (a
/// refusal, an unreachable host) or when the time is over.
ConnectionEvent await_event(rdma_event_channel& channel, rdma_cm_event_type type,
                            std::chrono::steady_clock::time_point end, const std::string& peer);

}  // namespace farvec::transport
