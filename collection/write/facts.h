// These functions say what a collection is: as a manifest before it is made, and in words for
// people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "changes/changing.h"
#include "collection/build/build_watch.h"
#include "collection/state/replay.h"
#include "collection/state/view.h"
#include "collection/write/collection.h"
#include "layout/collection/collection_manifest.h"

namespace farvec::collection {

/// Returns the manifest of an empty collection, for Collection::create(). `rows` are what is going
/// to be inserted; their metric is known.
layout::CollectionManifest empty_manifest(const changes::RowShape& rows,
                                          const layout::CollectionOptions& options);

/// Return the types and options of a collection, and what it holds.
nlohmann::ordered_json shape_json(const layout::CollectionManifest& manifest);
nlohmann::ordered_json view_json(const View& view);
/// Describes the view, and what only the writer knows.
nlohmann::ordered_json state_json(const View& view, const WriterState& state);
nlohmann::ordered_json recovery_json(const Recovery& recovery);
}  // namespace farvec::collection
