// An index's folder has its collection, and a mark of whose it is.
#pragma once

#include "collection/write/collection.h"
#include "layout/collection/alias_file.h"
#include "layout/collection/collection_manifest.h"
#include "layout/collection/place_file.h"
#include "postgres/channel/requests.h"
#include "postgres/engine/index_name.h"
#include "postgres/engine/places.h"
#include "postgres/engine/tablespaces.h"
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

namespace farvec::postgres {

/// The types and options of a collection that is made for an index, in an engine that may take so
/// much memory. Throws StatusError (invalid_argument) naming a number that is none of a type or a
/// metric.
layout::CollectionManifest manifest_for(const AskOpen& asked, std::uint64_t memory);

/// A collection that was opened, and which of its vectors rows share, as it is on the disk.
struct OpenedFolder {
  layout::IndexPlace place;            ///< what its file says
  collection::SegmentAccess segments;  ///< where it is open
  std::unique_ptr<collection::Collection> collection;
  layout::AliasList aliases;
};

/// Opens what is in an index's folder, if it is that index's own and whole. Throws Error saying why
/// it is not usable, and then the index has to begin anew; throws SystemError where the system
/// failed, and then it may be usable later.
OpenedFolder open_folder(const std::filesystem::path& folder, const IndexName& name,
                         Places& places);

/// What an index is made with.
struct NewIndex {
  layout::CollectionManifest manifest;
  layout::IndexPlace place;
};

/// Makes an empty collection in a new folder, and opens it. Throws
/// StatusError (invalid_argument) for a shape that no collection has, and Error; then nothing is
/// left.
OpenedFolder make_folder(const std::filesystem::path& folder, const IndexName& name, NewIndex made,
                         Places& places);

struct FolderOnDisk {
  IndexName name;
  std::uint64_t bytes = 0;                          ///< sum of the files that are loaded
  std::filesystem::file_time_type written_at = {};  ///< when its manifest was
};
/// Looks at the folders of indexes, and returns those that were written last first. Those that go
/// meanwhile may be left out.
std::vector<FolderOnDisk> folders_on_disk(const std::vector<IndexFolder>& all, Places& places);

/// Removes a folder, in a way that a kill does not leave half of an index under its name.
void remove_folder(const std::filesystem::path& folder);
/// Removes what kills have left of remove_folder() in the folder of all indexes.
void remove_leftovers(const std::filesystem::path& all);

}  // namespace farvec::postgres
