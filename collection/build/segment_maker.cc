#include "collection/build/segment_maker.h"

namespace farvec::collection {

const SegmentMaker& maker_of(const layout::CollectionOptions& options) {
  switch (options.kind) {
    case layout::IndexKind::graph:
      break;
    case layout::IndexKind::cluster:
      return kClusterMaker;
  }
  return kGraphMaker;
}

}  // namespace farvec::collection
