#include "search/index/row_form.h"

#include "search/index/search_index.h"
#include "search/index/second_copy.h"

namespace farvec::search {

RowForm form_of(const layout::Manifest& manifest) {
  return {manifest.metric, manifest.source_type, manifest.stored_type, manifest.dimension};
}

RowForm form_of(const layout::Manifest& manifest, const SearchIndex& index) {
  const SecondCopy* const second = index.second();
  if (second == nullptr) return form_of(manifest);
  return {second->metric(), second->source_type(), second->type(), second->dimension()};
}

}  // namespace farvec::search
