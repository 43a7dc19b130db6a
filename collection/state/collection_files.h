// CollectionFiles are the files of a collection except for its log: segments, their rows that are
// out, the new attributes of those that were updated, the manifest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "collection/segment/segment.h"
#include "collection/segment/segment_publisher.h"
#include "collection/state/view.h"
#include "layout/collection/collection_format.h"
#include "layout/collection/collection_manifest.h"

namespace farvec::collection {

/// CollectionFiles are used by one thread at a time, except for remove_segment().
class CollectionFiles {
 public:
  /// `publisher` is told which segments there are, and what the collection is. Null: the collection
  /// is on no memory node, or another process publishes it.
  CollectionFiles(const std::filesystem::path& folder, const layout::CollectionManifest& manifest,
                  std::shared_ptr<SegmentPublisher> publisher = nullptr);

  std::filesystem::path segment_folder(std::uint64_t number) const;

  /// Opens the segments of the manifest; those of `known` that are among them are kept. Throws
  /// Error naming what is damaged.
  std::vector<View::Bulk> open(const SegmentAccess& access, const View& known = {});
  /// Publishes what open() returned to the memory nodes as the present collection. Returns whether
  /// readers find this state wherever they look for the collection; without nodes they do. Throws
  /// Error.
  bool publish(const View& view, const layout::CollectionManifest& manifest) const;
  /// Removes what a killed process left: segments and files that the manifest does not name. It
  /// warns where that cannot be done, and where there are files that farvec did not make, which
  /// stay. Returns a number above those of what stays: no segment can have theirs.
  std::uint64_t remove_strays() const;

  /// Makes the view's segments, and what has changed of their rows, durable, together with
  /// `manifest`'s other members. Memory nodes that can take it have it when this returns. Then
  /// drops the segments that the view has no more, and their files. Throws Error; then the former
  /// manifest holds, or, where the disk does not say so, this one, and the files of both stay until
  /// a later call succeeds. Returns what publish() returns.
  bool save(const View& view, layout::CollectionManifest manifest);
  /// Says whether the manifest that was saved or opened last names the segment.
  bool names(std::uint64_t number) const { return saved_.contains(number); }

  /// Removes a segment, with a warning where that cannot be done: no manifest names it, and nothing
  /// holds it. Any thread may call it.
  void remove_segment(std::uint64_t number) const;

 private:
  struct Saved {
    layout::SegmentEntry entry;
    // What the entry's files have.
    std::shared_ptr<const RowSet> out = {};
    std::shared_ptr<const layout::UpdatedTuples> updates = no_updates();
  };
  using Name = layout::SegmentName;

  bool is_stray(const std::string& name) const;
  static std::vector<Name> names_of(const layout::SegmentEntry& entry);
  bool is_named(const Name& name) const;
  void note_former(const std::map<std::uint64_t, Saved>& saved);
  bool write(const View& view, layout::CollectionManifest manifest,
             std::map<std::uint64_t, Saved>& next) const;
  Saved save(const View::Bulk& bulk, std::uint64_t version) const;
  void save_out(Saved& next, const Saved& last, std::uint64_t version) const;
  void save_updates(Saved& next, const Saved& last, std::uint64_t version) const;
  std::uint64_t unused_version(std::uint64_t version,
                               const std::function<Name(std::uint64_t)>& name_of) const;
  std::filesystem::path path_of(const Name& name) const { return folder_ / name.text(); }

  const std::filesystem::path folder_;
  /// The manifest with which it was made: types, options and schema.
  const layout::CollectionManifest shape_;
  const std::shared_ptr<SegmentPublisher> publisher_;
  std::map<std::uint64_t, Saved> saved_;  ///< what the manifest names, keyed by number
  std::set<Name> former_;                 ///< files that earlier manifests may have named
};

}  // namespace farvec::collection
