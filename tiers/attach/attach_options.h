// AttachOptions say how to attach to a memory node.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "layout/collection/segment_key.h"
#include "rpc/address.h"
#include "rpc/tls.h"
#include "tiers/attach/read_paths.h"

namespace farvec::tiers {

struct AttachOptions {
  rpc::Address memory_node;
  /// What is attached: the node's index when there is none, else a segment of a collection that the
  /// node holds.
  std::optional<layout::SegmentKey> segment;
  std::string client = "farvec";  ///< for the node's log
  /// How long to wait for the node to come up and to finish loading.
  std::chrono::milliseconds wait{10'000};
  bool await_listener = true;  ///< false: attach() throws AbsentError when nothing listens there
  std::chrono::milliseconds call_timeout{5'000};
  std::chrono::milliseconds connect_timeout{5'000};  ///< for an endpoint, through a device
  /// How regions are read. Unless they are mapped, the node may be on another machine.
  ReadPath reads;
  transport::VerbsTuning tuning;        ///< for verbs
  std::uint32_t cores = 1;              ///< cores that will read at once, with an endpoint each
  std::shared_ptr<const rpc::Tls> tls;  ///< null: none
  /// When set, attaching ends with an Error soon after it becomes true.
  const std::atomic<bool>* stop = nullptr;
};

}  // namespace farvec::tiers
