// A SegmentFolder is the folder that has a segment's index and the file of its ids.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "collection/segment/segment.h"
#include "collection/segment/segment_bytes.h"
#include "collection/segment/segment_rows.h"
#include "layout/collection/collection_manifest.h"
#include "layout/index/index_directory.h"
#include "layout/index/second_copy.h"

namespace farvec::collection {

/// Reads the index's manifest, and the rest when it is asked for. The folder stays as it is.
class SegmentFolder final : public SegmentBytes {
 public:
  /// Throws Error naming the file, also that of a second copy which is missing or damaged.
  explicit SegmentFolder(const std::filesystem::path& folder);

  const layout::IndexDirectory& directory() const { return directory_; }
  /// Returns rows as the collection keeps them, from the segment's files, wherever its records are
  /// searched.
  const SegmentRows& rows() const { return rows_; }
  /// Returns the second copy of the rows; null: the index has them itself.
  const layout::SecondCopyFile* second() const { return second_.get(); }

  const layout::Manifest& manifest() const override { return directory_.manifest(); }
  std::uint64_t count() const override { return bytes_; }
  search::SearchIndex load_index(const layout::LoadOptions& options,
                                 tiers::NodeSet* nodes) const override;
  std::unique_ptr<tiers::IndexRecords> records(const layout::LoadOptions& options) const override;
  HugeBuffer read_records(const layout::LoadOptions& options, tiers::NodeSet*) const override {
    return directory_.load_region(layout::kRecordsRegion, options);
  }
  const SegmentFolder* folder() const override { return this; }

 private:
  const layout::IndexDirectory directory_;
  const std::uint64_t bytes_;
  const std::unique_ptr<const layout::SecondCopyFile> second_;
  const SegmentRows rows_;
};

/// Opens a segment in its folder: reads the ids, the attributes and the index's manifest, and
/// checks them. Throws Error naming the file.
std::shared_ptr<Segment> open_segment(const std::filesystem::path& folder,
                                      const layout::SegmentEntry& entry,
                                      const layout::Schema& schema, const SegmentAccess& access);

}  // namespace farvec::collection
