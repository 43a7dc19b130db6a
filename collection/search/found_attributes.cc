#include "collection/search/found_attributes.h"

namespace farvec::collection {

layout::Tuples FoundAttributes::read() const {
  layout::Tuples tuples;
  for (const RowPlace& at : rows_) at.append_attributes(tuples);
  return tuples;
}

}  // namespace farvec::collection
