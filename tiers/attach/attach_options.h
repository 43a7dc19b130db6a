// How to attach to a memory node.
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
  /// What to attach to: the node's index, or a segment of a collection that it holds.
  std::optional<layout::SegmentKey> segment;
  std::string client = "farvec";  ///< for the node's log
  /// Bound on waiting for the node to come up and to finish loading.
  std::chrono::milliseconds wait{10'000};
  bool await_listener = true;  ///< else attach() throws AbsentError when nobody listens there
  std::chrono::milliseconds call_timeout{5'000};
  std::chrono::milliseconds connect_timeout{5'000};  ///< of an endpoint, through a device
  /// Unless the regions are mapped, the node may be on another machine.
  ReadPath reads;
  transport::VerbsTuning tuning;        ///< of verbs
  std::uint32_t cores = 1;              ///< that will read at once, an endpoint each
  std::shared_ptr<const rpc::Tls> tls;  ///< null: none
  /// When set, attaching ends with an Error soon after it becomes true.
  const std::atomic<bool>* stop = nullptr;
};

}  // namespace farvec::tiers
