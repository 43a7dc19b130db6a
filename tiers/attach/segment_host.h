// A SegmentHost asks one memory node for what a collection's processes need: the writer has its
// segments loaded there, and readers learn which there are.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "layout/collection/segment_key.h"
#include "rpc/memory_node.grpc.pb.h"
#include "tiers/attach/attach_options.h"

namespace farvec::tiers {

/// Calls wait for their answers, and throw UnreachableError naming the node and why: it is away,
/// has no room, or must not be asked by this process. It is for one thread at a time, except
/// stop().
class SegmentHost {
 public:
  /// Contents distinguish a segment's bytes from others.
  struct Contents {
    std::uint64_t index = 0;  ///< layout::manifest_checksum()
    std::uint64_t ids = 0;    ///< XXH3-64 of the file
    /// XXH3-64 of the file of attributes; 0: there is none.
    std::uint64_t attributes = 0;

    bool operator==(const Contents&) const = default;
  };
  /// What the node holds, by segment number.
  using Held = std::map<std::uint64_t, Contents>;

  /// SegmentPaths name the files of a segment, which the node sees under the same path.
  struct SegmentPaths {
    std::filesystem::path index;  ///< directory
    std::uint64_t index_bytes = 0;
    std::filesystem::path ids;
    std::uint64_t ids_bytes = 0;
    std::filesystem::path attributes = {};
    std::uint64_t attributes_bytes = 0;  ///< 0: there is none
    Contents contents;

    bool operator==(const SegmentPaths&) const = default;
  };
  /// A CatalogueFile is a catalogue in a file, which the node sees under the same path.
  struct CatalogueFile {
    std::string name;  ///< the collection's name
    std::uint64_t revision = 0;
    std::filesystem::path path;
    std::uint64_t bytes = 0;
    std::uint64_t checksum = 0;  ///< XXH3-64
  };
  /// A HeldCatalogue is a catalogue that the node holds.
  struct HeldCatalogue {
    std::uint64_t collection = 0;
    std::string name;
    std::uint64_t revision = 0;
    std::uint64_t checksum = 0;
  };

  /// Does not connect before the first call. It uses the address, the wait for it and TLS from the
  /// options.
  explicit SegmentHost(AttachOptions options);

  Held list(std::uint64_t collection);
  std::vector<HeldCatalogue> catalogues();
  /// The node holds these bytes when this returns; one of an older farvec, which holds no
  /// attributes, is an error. Both loads wait until loads that others have
  /// asked for are done.
  void load(const layout::SegmentKey& key, const SegmentPaths& files);
  /// Replaces the catalogue before it.
  void load_catalogue(std::uint64_t collection, const CatalogueFile& file);
  void drop(const layout::SegmentKey& key);

  /// From now on calls fail at once, and so does the one that is running. It may be called from any
  /// thread.
  void stop();

 private:
  using Call = std::function<grpc::Status(memory_node::v1::MemoryNode::Stub& stub,
                                          grpc::ClientContext& context)>;
  using Clock = std::chrono::steady_clock;

  grpc::Status perform(const Call& call, Clock::time_point end);
  void perform_load(const Call& call, std::uint64_t bytes, const char* what);
  void require(const grpc::Status& status, const char* what) const;

  AttachOptions options_;
  std::unique_ptr<memory_node::v1::MemoryNode::Stub> stub_;  ///< null: not connected
  std::atomic<bool> stopped_{false};                         ///< relaxed: orders nothing
  std::mutex mutex_;
  grpc::ClientContext* running_ = nullptr;  ///< under the mutex
};

}  // namespace farvec::tiers
