// Keeps a collection's segments on its memory nodes, for the one process that changes it.
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
#include "tiers/attach/segment_host.h"

namespace farvec::collection {

/// Looks at the nodes every second on a thread of its own: what they do not hold (because they were
/// started again, or away, or full) is loaded, and what nobody wants any more, or a killed process
/// left there, is dropped. Any thread may call everything.
class SegmentPublisher {
 public:
  SegmentPublisher(std::shared_ptr<const SegmentNodes> nodes, std::uint64_t collection);
  ~SegmentPublisher();
  SegmentPublisher(const SegmentPublisher&) = delete;
  SegmentPublisher& operator=(const SegmentPublisher&) = delete;

  /// What is to be on the nodes at first was wanted before: begins to look. Once.
  void begin();
  /// The segment in these files, which stay until forget(), is to be on the nodes.
  using SegmentFiles = tiers::SegmentHost::SegmentFiles;
  void want(std::uint64_t number, const SegmentFiles& files);
  /// One that is wanted is on at least one node when this returns, and on as many as there are to
  /// be when none fails. Throws UnreachableError saying why each of its nodes has not taken
  /// it.
  void publish(std::uint64_t number);
  /// What the collection is from now on. The file stays until the next one takes its place. It is
  /// on every node that can take it now when this returns, and on the others when they can; what
  /// nobody wants any more is dropped from a node behind it. Returns on how many it is.
  std::size_t publish_catalogue(const tiers::SegmentHost::CatalogueFile& file);
  /// It is not needed any more: nobody attaches to it from some moment on.
  void forget(std::uint64_t number);
  /// Throws UnreachableError when no node has answered the last time: before work whose
  /// outcome would go nowhere.
  void require_node() const;

  /// What is not as it is to be; empty: every segment is on as many nodes as it is to be.
  std::string failure() const;
  /// Of all segments that are to be on the nodes, by the last look at them, which may be 1 s old.
  std::uint64_t missing_copies() const;
  /// Calls that are under way fail, and so do all later ones. For the end of the process's work.
  void stop();

 private:
  using WantedSegments = std::map<std::uint64_t, SegmentFiles>;
  /// A node, and what it holds by the last look at it; without: it did not answer.
  struct Node {
    std::unique_ptr<tiers::SegmentHost> host;
    std::optional<tiers::SegmentHost::Held> held;
    std::uint64_t catalogue = 0;  ///< that it holds, its checksum; 0: none
    std::string failure;          ///< of the last call that failed
  };

  void run();
  void look();
  std::string look_at_all();
  void look_at(Node& node) const;
  std::size_t spread(std::uint64_t number, const SegmentFiles& wanted);
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

  std::mutex work_;          ///< of calls to nodes, which take long; taken before the other
  std::vector<Node> hosts_;  ///< under work_, but for stop()

  mutable std::mutex mutex_;  ///< of what follows; held for moments
  std::condition_variable wake_;
  WantedSegments wanted_;
  std::optional<tiers::SegmentHost::CatalogueFile> catalogue_;  ///< none: not told yet
  std::string failure_;
  std::uint64_t missing_ = 0;  ///< copies
  bool answered_ = true;       ///< a node, the last time
  bool changed_ = false;       ///< since the last look
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace farvec::collection
