// pack_by_affinity() places sets of affine records one after another (VeloANN section 3.4).
#pragma once

#include "layout/pages/page_plan.h"
#include "ssd_baseline/slotted/packing/packing.h"

namespace farvec::slotted {

/// A set is a vertex and those of its affine vertices that have no place yet. When a set does not
/// fit the rest of a page, records without affine ones fill the page and the set begins the next
/// one; when there are no such records, the set is split. The paper leaves the order of the sets
/// open: here the next one begins with a vertex that is affine to one in the page, or else with the
/// first by id. Records that are in no set follow their neighbours. Each set has its own color in
/// its pages, 1 to 255 in turn.
layout::PagePlan pack_by_affinity(const PackingInput& input);

}  // namespace farvec::slotted
