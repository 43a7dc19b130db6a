#include "graph/candidate_list.h"

#include "base/error.h"

namespace farvec::graph {

void require_node_count(std::size_t count, std::string_view what) {
  if (count >= kMaxNodes) {
    throw Error("the index has {} {}; a search takes fewer than {}", count, what, kMaxNodes);
  }
}

}  // namespace farvec::graph
