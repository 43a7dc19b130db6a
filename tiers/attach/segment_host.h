// What a collection's writer asks of one memory node that is to hold its segments.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "layout/collection/segment_key.h"
#include "rpc/memory_node.grpc.pb.h"
#include "tiers/attach/attach_options.h"

namespace farvec::tiers {

/// Calls wait for their answers, and throw search::UnreachableError naming the node and why: it is
/// away, has no room, or must not be asked by this process. One thread at a time, but for stop().
class SegmentHost {
 public:
  /// Of a segment that the node holds, layout::manifest_checksum() by number.
  using Held = std::map<std::uint64_t, std::uint64_t>;

  /// Connects with the first call. Of the options the address, the wait for it, TLS.
  explicit SegmentHost(AttachOptions options);

  Held list(std::uint64_t collection);
  /// The node holds the index of this directory, which it sees under the same path, when this
  /// returns. Waits for loads that others have asked for.
  void load(const layout::SegmentKey& key, const std::filesystem::path& index,
            std::uint64_t index_bytes);
  void drop(const layout::SegmentKey& key);

  /// From now on calls fail at once, and so does the one that is under way. Any thread.
  void stop();

 private:
  using Call = std::function<grpc::Status(memory_node::v1::MemoryNode::Stub& stub,
                                          grpc::ClientContext& context)>;
  using Clock = std::chrono::steady_clock;

  grpc::Status perform(const Call& call, Clock::time_point end);
  void require(const grpc::Status& status, const char* what) const;

  AttachOptions options_;
  std::unique_ptr<memory_node::v1::MemoryNode::Stub> stub_;  ///< null: not connected
  std::atomic<bool> stopped_{false};                         ///< relaxed: orders nothing
  std::mutex mutex_;
  grpc::ClientContext* running_ = nullptr;  ///< under the mutex
};

}  // namespace farvec::tiers
