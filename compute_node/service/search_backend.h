// What the query service runs on: an index that can be opened, lost, and opened again.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "base/unreachable_error.h"
#include "layout/index/index_parts.h"
#include "search/core/search_core.h"
#include "search/searchers/probe_counts.h"
#include "tiers/attach/node_set.h"

namespace farvec::collection {
class Collection;
}

namespace farvec::compute_node {

/// How what another process changes is followed.
struct Following {
  double stale_us = 0;         ///< all that was there so long ago is in what is searched
  std::uint64_t switches = 0;  ///< to other segments
  std::uint64_t failures = 0;
  std::string failure;  ///< why it is not followed now; empty: it is
};

/// The facts of an open index that a request is checked against and that Describe tells.
struct ServedIndex {
  Metric metric = Metric::l2;
  ElementType source_type = ElementType::f32;  ///< of queries
  ElementType stored_type = ElementType::f32;  ///< distance::stored_type(metric, source_type)
  std::uint32_t dimension = 0;
  std::uint64_t count = 0;
  std::uint32_t degree = 0;
  std::uint32_t code_bits = 0;
  layout::IndexKind kind = layout::IndexKind::graph;
  std::uint32_t clusters = 0;  ///< 0 where there are none
  /// Of a collection: results have users' ids of 64 bits, and there may be fewer than k vectors.
  bool user_ids = false;
  std::optional<Following> following;  ///< of a collection that another process changes
  std::string layout;                  ///< "csr", "padded", "coupled", "decoupled", "grouped"...
  std::string tier;                    ///< with its model when it has one
  std::string page_search;             ///< of slotted pages: how they are searched
  std::uint64_t generation = 0;
  std::uint64_t manifest_xxh3 = 0;  ///< layout::manifest_checksum(); 0 of a collection
  std::uint64_t index_bytes = 0;    ///< on the tier
  std::uint64_t code_bytes = 0;     ///< in this process: a graph's codes, or the centroids
  std::uint64_t offset_bytes = 0;   ///< in this process: offsets, or the table of clusters
  std::uint64_t cache_bytes = 0;    ///< record caches of all cores, or the pool that they share
  // Where memory is planned (tier ssd):
  std::uint64_t search_bytes = 0;   ///< buffers and searches in flight, at most
  std::uint64_t memory_budget = 0;  ///< for all of the above; 0: none
};

/// Samples of a session's cores. Atomic and relaxed: each is a gauge or a counter on its own.
struct TierCounters {
  std::atomic<std::uint64_t> stalls{0};
  std::atomic<std::uint64_t> reads_in_flight{0};
};

/// An open index. Destroyed after every run_core() has returned.
class SearchSession {
 public:
  virtual ~SearchSession() = default;
  /// The facts of when it was opened.
  virtual const ServedIndex& index() const = 0;
  /// The facts of now, where some change while it is open. Any thread; takes no lock for long.
  virtual ServedIndex present() const { return index(); }
  /// Runs core number `core` on the calling thread until the feed is finished and every task is
  /// done. Connects and registers what the core needs before it asks the feed for a task. May
  /// throw; the session then counts as broken.
  virtual void run_core(unsigned core, search::TaskFeed& feed) = 0;
  /// False once the index can no longer be read, for good. Any thread; does not block.
  virtual bool alive() const = 0;
  /// There is a newer index where this one came from, which open() would give. Any thread.
  virtual bool superseded() const { return false; }
  /// Any thread.
  virtual TierCounters& counters() = 0;
  /// Any thread. None of a graph.
  virtual std::optional<search::ProbeTally> probes() const { return std::nullopt; }
  /// Of a collection's segment. None when there is no such segment, or it is a graph. Any thread.
  virtual std::optional<search::ProbeTally> segment_probes(std::uint64_t) const {
    return std::nullopt;
  }
  /// Any thread. None where the index lies in this process.
  virtual std::vector<tiers::NodeSet::Member> memory_nodes() const { return {}; }
};

class SearchBackend {
 public:
  virtual ~SearchBackend() = default;
  /// What clients may change, once open() has opened it; null where there is no such thing. Any
  /// thread.
  virtual std::shared_ptr<collection::Collection> collection() const { return nullptr; }
  /// Whom it opens, for messages: "memory node 127.0.0.1:7700", "index directory /srv/index".
  virtual std::string target() const = 0;
  static constexpr std::chrono::milliseconds kOneAttempt{1'000};

  /// One attempt: waits at most about `bound` for somebody to be there, then loads for as long as
  /// the bytes take, and ends soon after `stop` becomes true. Earlier sessions may still be open.
  /// One call at a time. Throws UnreachableError when a later attempt may succeed, Error when it
  /// cannot.
  virtual std::unique_ptr<SearchSession> open(std::chrono::milliseconds bound,
                                              const std::atomic<bool>& stop) = 0;
};

}  // namespace farvec::compute_node
