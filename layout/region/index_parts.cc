#include "layout/region/index_parts.h"

namespace farvec::layout {

std::string_view to_string(IndexKind kind) {
  switch (kind) {
    case IndexKind::graph:
      return "graph";
    case IndexKind::cluster:
      return "cluster";
  }
  return "unknown";
}

}  // namespace farvec::layout
