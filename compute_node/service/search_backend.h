// A SearchBackend is what the query service is built on: an index that can be opened, lost, and
// opened again.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "base/unreachable_error.h"
#include "layout/attributes/schema.h"
#include "layout/index/index_description.h"
#include "search/core/search_core.h"
#include "search/searchers/probe_counts.h"
#include "tiers/attach/node_set.h"

namespace farvec::compute_node {

/// A Following says how this process follows what another process changes.
struct Following {
  double stale_us = 0;         ///< all that was there this long ago can be found by searches
  std::uint64_t switches = 0;  ///< to other segments
  std::uint64_t failures = 0;
  std::string failure;  ///< why it is not followed now; empty: it is
};

/// A ServedIndex holds the facts of an open index that a request is checked against and that
/// Describe tells.
struct ServedIndex {
  Metric metric = Metric::l2;
  ElementType source_type = ElementType::f32;  ///< type of queries
  ElementType stored_type = ElementType::f32;  ///< stored_type(metric, source_type)
  std::uint32_t dimension = 0;
  std::uint64_t count = 0;
  std::uint32_t degree = 0;
  std::uint32_t code_bits = 0;
  layout::IndexKind kind = layout::IndexKind::graph;
  std::uint32_t clusters = 0;  ///< 0 where there are none
  /// True for a collection: results have users' ids of 64 bits, and there may be fewer than k
  /// vectors.
  bool user_ids = false;
  bool refines = false;                ///< it has a second copy of its vectors
  std::optional<Following> following;  ///< for a collection that another process changes
  /// Returns the columns that a filter may name now, from any thread. They only become more. Null
  /// for rows without attributes, which take no filters.
  std::function<std::shared_ptr<const layout::Schema>()> schema;
  std::string layout;       ///< "csr", "padded", "coupled", "decoupled", "grouped"...
  std::string tier;         ///< with its model when it has one
  std::string page_search;  ///< for slotted pages: how they are searched
  std::uint64_t generation = 0;
  std::uint64_t manifest_xxh3 = 0;  ///< layout::manifest_checksum(); 0 for a collection
  std::uint64_t index_bytes = 0;    ///< on the tier
  std::uint64_t code_bytes = 0;     ///< in this process: a graph's codes, or the centroids
  std::uint64_t offset_bytes = 0;   ///< in this process: offsets, or the table of clusters
  std::uint64_t cache_bytes = 0;    ///< record caches of all cores, or the pool that they share
  // These are set where memory is planned (tier ssd):
  std::uint64_t search_bytes = 0;   ///< buffers and searches in flight, at most
  std::uint64_t memory_budget = 0;  ///< for all of the above; 0: none
};

/// TierCounters are samples of a session's cores. They are atomic and relaxed, because each is a
/// gauge or a counter on its own.
struct TierCounters {
  std::atomic<std::uint64_t> stalls{0};
  std::atomic<std::uint64_t> reads_in_flight{0};
};

/// A SearchSession is an open index. It is destroyed after every run_core() has returned.
class SearchSession {
 public:
  virtual ~SearchSession() = default;
  /// Returns the facts at the time when it was opened.
  virtual const ServedIndex& index() const = 0;
  /// Returns the present facts, where some change while it is open. It may be called from any
  /// thread, and takes no lock for long.
  virtual ServedIndex present() const { return index(); }
  /// Runs core number `core` on the calling thread until the feed is finished and every task is
  /// done. Connects and registers what the core needs before it asks the feed for a task. It may
  /// throw; then the session counts as broken.
  virtual void run_core(unsigned core, search::TaskFeed& feed) = 0;
  /// False once the index can no longer be read, for good. It may be called from any thread, and
  /// does not block.
  virtual bool alive() const = 0;
  /// Returns true when there is a newer index where this one came from, which open() would return.
  /// It may be called from any thread.
  virtual bool superseded() const { return false; }
  /// May be called from any thread.
  virtual TierCounters& counters() = 0;
  /// Returns none for a graph. It may be called from any thread.
  virtual std::optional<search::ProbeTally> probes() const { return std::nullopt; }
  /// Returns the probes of a collection's segment; none when there is no such segment, or it is a
  /// graph. It may be called from any thread.
  virtual std::optional<search::ProbeTally> segment_probes(std::uint64_t) const {
    return std::nullopt;
  }
  /// Returns nothing where the index is in this process. It may be called from any thread.
  virtual std::vector<tiers::NodeSet::Member> memory_nodes() const { return {}; }
};

class ServedChanges;

class SearchBackend {
 public:
  virtual ~SearchBackend() = default;
  /// What clients may change, once open() has opened it; null where there is nothing. It may be
  /// called from any thread.
  virtual std::shared_ptr<ServedChanges> changes() const { return nullptr; }
  /// Names what it opens, for messages: "memory node 127.0.0.1:7700", "index directory /srv/index".
  virtual std::string target() const = 0;
  static constexpr std::chrono::milliseconds kOneAttempt{1'000};

  /// Makes one attempt: waits at most about `bound` for the source to be there, then loads for as
  /// long as the bytes take, and ends soon after `stop` becomes true. Earlier sessions may still be
  /// open. It is for one call at a time. Throws UnreachableError when a later attempt may succeed,
  /// Error when it cannot.
  virtual std::unique_ptr<SearchSession> open(std::chrono::milliseconds bound,
                                              const std::atomic<bool>& stop) = 0;
};

}  // namespace farvec::compute_node
