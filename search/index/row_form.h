// A RowForm says what the rows of an index are for callers: what queries are compared with.
#pragma once

#include <cstdint>

#include "base/types.h"
#include "layout/index/manifest.h"

namespace farvec::search {

class SearchIndex;

struct RowForm {
  Metric metric = Metric::l2;
  ElementType source_type = ElementType::f32;  ///< that of queries as they come
  ElementType stored_type = ElementType::f32;  ///< that of queries as they are compared
  std::uint32_t dimension = 0;
};

/// Returns the form of an index's own rows, which no second copy stands for.
RowForm form_of(const layout::Manifest& manifest);
/// Returns the form of the second copy's rows where the index, whose manifest this is, has one.
RowForm form_of(const layout::Manifest& manifest, const SearchIndex& index);

}  // namespace farvec::search
