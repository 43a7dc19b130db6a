// LogNodes are the memory nodes that hold a collection's log.
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
  tiers::AttachOptions attach;  ///< for each of them; its address is not used
  /// Nodes that have a change when it is acknowledged; 0: more than half of them.
  std::uint16_t copies = 0;
};

/// Attaches to the nodes when it is asked to. It may be used by any thread.
class LogNodes {
 public:
  /// Throws Error when there are more copies than nodes.
  explicit LogNodes(LogNodesOptions options);

  /// Attaches for the log's one writer. Waits up to attach.wait for nodes and for the end of an
  /// earlier writer's lease. Throws UnreachableError when another writer has one of the nodes, or
  /// fewer are there than must answer and must have copies. Nodes that are away are reached when
  /// they come back, through these LogNodes.
  wal::RegionWriters attach_writer() const;

  /// Attaches, without waiting long, to nodes that came or came back since the last call; it is for
  /// readers. Returns true when source() has other nodes now.
  bool refresh();
  /// Returns what the attached nodes hold of the log; it is for one thread. Throws
  /// UnreachableError, saying why, when no node is attached.
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
