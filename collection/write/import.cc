#include "collection/write/import.h"

#include "base/check.h"

namespace farvec::collection {

void Import::enter(Writer& writer) {
  FARVEC_CHECK(segment_ != nullptr);
  receipt_.done = segment_->rows();
  receipt_.replaced = writer.add(segment_);
  receipt_.version = writer.version();
  segment_ = nullptr;
}

}  // namespace farvec::collection
