// The memory nodes that a collection's log lies on.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tiers/attach/attach_options.h"
#include "tiers/attach/log_attachment.h"
#include "wal/log_source.h"
#include "wal/region_log.h"

namespace farvec::collection {

struct LogNodesOptions {
  std::vector<rpc::Address> nodes;
  tiers::AttachOptions attach;  ///< of each of them; the address is not looked at
  /// Nodes that have a change when it is acknowledged; 0: more than half of them.
  std::uint16_t copies = 0;
};

/// Attaches to the nodes when it is asked to. Any thread.
class LogNodes {
 public:
  /// Throws Error on more copies than nodes.
  explicit LogNodes(LogNodesOptions options);

  /// For the log's one writer. Waits up to attach.wait for nodes and for the end of an earlier
  /// writer's lease. Throws UnreachableError when another writer has one of them, or fewer
  /// are there than must answer and must have copies. Those that are away are reached when they
  /// come back, through these LogNodes.
  wal::RegionWriters attach_writer() const;

  /// For readers: attaches, without waiting long, to nodes that came or came again since the last
  /// call. True when source() has other nodes now.
  bool refresh();
  /// What the nodes that are attached to hold of the log; for one thread. Throws
  /// UnreachableError, saying why, when there is none.
  std::shared_ptr<wal::LogSource> source(std::uint64_t log_id) const;

 private:
  using Attachment = std::shared_ptr<tiers::LogAttachment>;
  using Clock = std::chrono::steady_clock;

  tiers::AttachOptions attach_options(std::size_t node) const;
  std::string name_of(std::size_t node) const;
  wal::LogReach reach(std::uint64_t epoch) const;

  const LogNodesOptions options_;
  mutable std::mutex mutex_;
  std::vector<Attachment> readers_;  ///< null: not attached
  std::vector<Clock::time_point> next_try_;
  std::vector<std::string> failures_;  ///< why nodes are not attached
};

}  // namespace farvec::collection
