// Brings an index into memory and in front of the clients, beside what is there.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "memory_node/node_state.h"

namespace farvec::memory_node {

struct PublisherOptions {
  LoadRequest load;  ///< slot, loaded_bytes and stop are the publisher's own
  std::string grant_path;
  std::string rdma;             ///< see DaemonOptions, as what follows
  std::uint16_t rdma_port = 0;  ///< of the table in slot 0; the others' are counted up from it
  std::string fabric;
  std::size_t max_leases = 64;
  std::size_t connections_per_lease = 64;
  /// Ends every load once true. May be null.
  const std::atomic<bool>* stop = nullptr;
};

/// Thrown when an index is being loaded already.
class PublisherBusy : public std::exception {
 public:
  const char* what() const noexcept override { return "another index is being loaded"; }
};

/// Thread-safe; one load at a time.
class Publisher {
 public:
  /// `state` is borrowed.
  Publisher(NodeState& state, PublisherOptions options)
      : state_(state), options_(std::move(options)) {}

  /// Loads the directory's index beside the tables that are in memory, opens the ways to read it,
  /// and publishes it. Throws what load_index() and the read paths throw, LoadStopped also once
  /// `cancelled` (called by many threads, may be empty) is true, and PublisherBusy; what was
  /// published stays then.
  std::shared_ptr<const RegionTable> publish(const std::string& index,
                                             const std::function<bool()>& cancelled = {});

 private:
  std::shared_ptr<const Publication> load(const std::string& index,
                                          const std::function<bool()>& cancelled);
  void open_paths(Publication& publication) const;

  NodeState& state_;
  const PublisherOptions options_;
  std::mutex mutex_;  ///< held by the load that runs
};

}  // namespace farvec::memory_node
