// This file is a collection in its folder, for readers.
#include "base/file_names.h"
#include "base/unreachable_error.h"
#include "collection/nodes/log_place.h"
#include "collection/read/collection_source.h"
#include "collection/state/collection_files.h"

namespace farvec::collection {
namespace {

class FolderCollection final : public CollectionSource {
 public:
  explicit FolderCollection(const std::filesystem::path& folder)
      : folder_(settled_path(folder)), name_(folder_.string()) {}

  const std::string& name() const override { return name_; }
  layout::CollectionManifest manifest() override {
    return manifest_ = layout::read_collection(folder_);
  }
  std::vector<View::Bulk> open(const SegmentAccess& access, const View& known,
                               const Segment::OnChunk&) override {
    SegmentAccess segments = access;
    segments.collection = manifest_.segments_on_nodes;
    if (access.nodes != nullptr && segments.collection == 0) {
      throw UnreachableError(
          "the segments of '{}' are on no memory nodes: a writer with --segment-nodes brings them "
          "there",
          name_);
    }
    return CollectionFiles(folder_, manifest_).open(segments, known);
  }
  std::shared_ptr<wal::LogSource> log(const LogNodes* nodes) override {
    return log_source(folder_, manifest_, nodes);
  }

 private:
  const std::filesystem::path folder_;
  const std::string name_;
  layout::CollectionManifest manifest_;
};

}  // namespace

std::shared_ptr<CollectionSource> folder_collection(const std::filesystem::path& folder) {
  return std::make_shared<FolderCollection>(folder);
}

}  // namespace farvec::collection
