// A Publisher loads an index and publishes it to the clients, beside the tables that are in memory.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "memory_node/node_state.h"

namespace farvec::memory_node {

struct PublisherOptions {
  LoadRequest load;  ///< slot, loaded_bytes and stop are set by the publisher
  PathOptions
      paths;  ///< rdma_port is that of the first table; those of the others are counted up from it
  /// Ports from paths.rdma_port on on which something else listens.
  std::uint32_t taken_ports = 0;
  /// Room for all segments of collections that are in memory; 0: none is held. It is not for
  /// devices.
  std::uint64_t segment_bytes = 0;
  /// Ends every load once it is true. It may be null.
  const std::atomic<bool>* stop = nullptr;
};

/// A PublisherBusy is thrown when an index is being loaded already.
class PublisherBusy : public std::exception {
 public:
  const char* what() const noexcept override { return "another index is being loaded"; }
};

/// Thrown for a directory that holds no index, or one whose manifest or headers are damaged.
class RefusedIndex : public Error {
 public:
  using Error::Error;
};

/// A NoRoom is thrown when there is no room for a segment or a catalogue.
class NoRoom : public Error {
 public:
  using Error::Error;
};

/// A Publisher is thread-safe, with one load at a time.
class Publisher {
 public:
  /// `state` is borrowed.
  Publisher(NodeState& state, PublisherOptions options)
      : state_(state), options_(std::move(options)) {}

  /// Loads the directory's index beside the tables that are in memory, opens the ways to read it,
  /// and publishes it. Throws RefusedIndex where there is no sound index, what load_index() and the
  /// read paths throw, LoadStopped also once `cancelled` (called by many threads, may be empty) is
  /// true, and PublisherBusy. The published index stays then.
  ///
  /// An index that is on a device already is attached, and then read through in the background;
  /// damage is logged and counted. An empty `index` means the newest one of the device.
  std::shared_ptr<const RegionTable> publish(const std::string& index,
                                             const std::function<bool()>& cancelled = {});

  /// A Part is a part of a collection that is to be held.
  struct Part {
    layout::SegmentKey key;
    std::string index = {};            ///< directory; empty: a catalogue
    std::vector<HeldFile> files = {};  ///< a segment's ids and attributes; a catalogue itself
    std::string name = {};             ///< for a catalogue
    std::uint64_t revision = 0;        ///< for a catalogue

    /// Returns the bytes of all files.
    std::uint64_t file_bytes() const;
  };
  /// Loads a segment of a collection, or its catalogue, which is in NodeState::publications from
  /// then on. A segment that is there already with the same bytes is returned unchanged. Throws
  /// what publish() throws, RefusedFile, and NoRoom. A sixteenth of the room is for catalogues
  /// alone: segments that are to go wait for a new catalogue.
  std::shared_ptr<const RegionTable> publish_part(const Part& part,
                                                  const std::function<bool()>& cancelled = {});

  /// Frees tables that were replaced or dropped and are no longer read. On a device it also frees
  /// the space of the indexes that the published one has replaced: those that this node published
  /// before, and those with its name.
  void collect();

 private:
  using OpenedFiles = std::vector<std::shared_ptr<const OpenedFile>>;

  LoadRequest request_for(std::uint32_t slot, const std::function<bool()>& cancelled) const;
  std::shared_ptr<const Publication> load(const std::string& index,
                                          const std::function<bool()>& cancelled);
  void require_place(const std::string& part);
  void require_room(std::uint64_t bytes, bool catalogue, const std::string& part);
  std::shared_ptr<const RegionTable> publish_segment(const Part& part,
                                                     const std::function<bool()>& cancelled);
  std::shared_ptr<const RegionTable> publish_catalogue(const Part& part,
                                                       const std::function<bool()>& cancelled);
  std::shared_ptr<const RegionTable> hold(
      const Part& part, OpenedFiles files, const std::function<bool()>& cancelled,
      const std::function<std::shared_ptr<const RegionTable>(const LoadRequest&)>& load_part);
  std::shared_ptr<const RegionTable> load_table(const std::string& index,
                                                const LoadRequest& request);
  void open_paths(Publication& publication) const;
  void replace_stored(const RegionTable& table, const RegionTable* before);
  /// Reads an attached table through, in the background.
  void verify(std::shared_ptr<const RegionTable> table);

  NodeState& state_;
  const PublisherOptions options_;
  std::mutex mutex_;  ///< held by the load that runs
  std::mutex replaced_mutex_;
  /// Generations on the device that are to be removed when they are no longer read.
  std::vector<std::uint64_t> replaced_;
  std::jthread verifier_;  ///< replaced by the load that runs
};

}  // namespace farvec::memory_node
