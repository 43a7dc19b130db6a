// A SegmentPublisher keeps a collection's segments on its memory nodes, for the one process that
// changes it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "collection/nodes/segment_nodes.h"
#include "collection/segment/segment.h"
#include "tiers/attach/segment_host.h"

namespace farvec::collection {

/// Returns the files of a segment that was opened in its folder, and what nodes distinguish its
/// bytes by, for which it reads all ids and the file of attributes.
tiers::SegmentHost::SegmentPaths paths_of(const Segment& segment);

/// Looks at the nodes every second on a thread of its own. Segments that nodes do not hold (because
/// they were started again, or away, or full) are loaded. Segments that are not wanted any more, or
/// that a killed process left there, are dropped. Any thread may call everything.
class SegmentPublisher {
 public:
  SegmentPublisher(std::shared_ptr<const SegmentNodes> nodes, std::uint64_t collection);
  ~SegmentPublisher();
  SegmentPublisher(const SegmentPublisher&) = delete;
  SegmentPublisher& operator=(const SegmentPublisher&) = delete;

  /// Begins to look. What is to be on the nodes at first must have been wanted before. To be called
  /// once.
  void begin();
  /// The segment, which was opened in its folder, is to be on the nodes. Its files stay until
  /// forget().
  void want(const Segment& segment);
  /// Returns the files of a wanted segment, and what nodes distinguish their bytes by.
  tiers::SegmentHost::SegmentPaths files(std::uint64_t number) const;
  /// Returns when a wanted segment is on at least one node, and on as many as there are to be when
  /// none fails. Throws UnreachableError saying why each of its nodes has not taken it.
  void publish(std::uint64_t number);
  /// The file says what the collection is from now on. The file stays until the next one takes its
  /// place. When this returns, the file is on every node that can take it now; the others get it
  /// when they can. A node drops what is not wanted any more only after it has the file. Returns
  /// how many nodes have it.
  std::size_t publish_catalogue(const tiers::SegmentHost::CatalogueFile& file);
  /// The segment is not needed any more: from some moment on no reader attaches to it.
  void forget(std::uint64_t number);
  /// Throws UnreachableError when no node has answered the last time: it is called before work
  /// whose outcome would go nowhere.
  void require_node() const;

  /// Says what is not yet in its intended state; empty: every segment is on as many nodes as it is
  /// to be.
  std::string failure() const;
  /// Returns the number of copies that are missing of all segments that are to be on the nodes, by
  /// the last look at them, which may be 1 s old.
  std::uint64_t missing_copies() const;
  /// Calls that are running fail, and so do all later ones. It is for the end of the process's
  /// work.
  void stop();

 private:
  using WantedSegments = std::map<std::uint64_t, tiers::SegmentHost::SegmentPaths>;
  /// A Node is a memory node, and what it held at the last look; none: it did not answer.
  struct Node {
    std::unique_ptr<tiers::SegmentHost> host;
    std::optional<tiers::SegmentHost::Held> held;
    std::uint64_t catalogue = 0;  ///< checksum of the catalogue that it holds; 0: none
    std::string failure;          ///< that of the last call that failed
  };

  void run();
  void look();
  std::string look_at_all();
  void look_at(Node& node) const;
  std::size_t spread(std::uint64_t number, const tiers::SegmentHost::SegmentPaths& wanted);
  std::size_t spread_catalogue();
  std::optional<tiers::SegmentHost::CatalogueFile> catalogue() const;
  void drop_others(Node& node, const WantedSegments& wanted);
  WantedSegments wanted() const;
  bool is_wanted(std::uint64_t number) const;
  bool is_stopping() const;
  std::string why_not(const std::vector<std::size_t>& nodes) const;
  void tell(const std::string& failure, std::uint64_t missing);

  const std::shared_ptr<const SegmentNodes> nodes_;
  const std::uint64_t collection_;

  std::mutex work_;          ///< guards calls to nodes, which take long; taken before mutex_
  std::vector<Node> hosts_;  ///< under work_, except for stop()

  mutable std::mutex mutex_;  ///< guards the members below; held for moments
  std::condition_variable wake_;
  WantedSegments wanted_;
  std::optional<tiers::SegmentHost::CatalogueFile> catalogue_;  ///< none: not told yet
  std::string failure_;
  std::uint64_t missing_ = 0;  ///< copies
  bool answered_ = true;       ///< whether a node has answered the last time
  bool changed_ = false;       ///< since the last look
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace farvec::collection
