// A program of a user of the installed library.
#include <cstdio>

#include "distance/distance.h"
#include "rpc/compute_node.grpc.pb.h"
#include "search/core/search_core.h"

int main() {
  const float a[] = {1, 2, 3};
  const float b[] = {1, 0, 0};
  const auto kernel =
      farvec::distance::pair_kernel(farvec::Metric::l2, farvec::ElementType::f32, 3);
  const float found = kernel(a, b, 3);
  if (found != 13) std::fprintf(stderr, "distance %g, expected 13\n", static_cast<double>(found));
  return found == 13 ? 0 : 1;
}
