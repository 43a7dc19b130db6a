#include "collection/search/found_attributes.h"

#include <span>

namespace farvec::collection {

layout::Tuples FoundAttributes::read() const {
  layout::Tuples tuples;
  for (const Row& at : rows_) {
    if (at.fresh != nullptr) {
      tuples.append(at.fresh->memtable->attributes(at.row));
    } else {
      const std::vector<std::byte> tuple = at.segment->attributes().read(at.row);
      tuples.append(std::span(tuple));
    }
  }
  return tuples;
}

}  // namespace farvec::collection
