// color_pages() gives colors to affine records that share a page, however they were packed.
#pragma once

#include "graph/affine_sets.h"
#include "layout/pages/page_plan.h"

namespace farvec::slotted {

/// Sets plan.colors: records of a page that are affine to each other, directly or through others in
/// the page, have one color, 1 to 255 in turn; the others have 0.
void color_pages(const graph::AffineSets& affine, layout::PagePlan& plan);

}  // namespace farvec::slotted
