// page_recipe() says how the segments of a collection are stored in slotted pages.
#pragma once

#include "indexing/slotted_recipe.h"
#include "layout/collection/collection_manifest.h"
#include "layout/collection/option_bounds.h"

namespace farvec::collection {

/// The recipe does not depend on the rows, so that all segments have pages of one size. Throws
/// StatusError (invalid_argument) with the name of the option, in `spell`'s form, for bits of codes
/// where the records of such rows have codes of their own.
indexing::SlottedRecipe page_recipe(const layout::CollectionManifest& manifest,
                                    const layout::SpellOption& spell = layout::as_it_is);

}  // namespace farvec::collection
