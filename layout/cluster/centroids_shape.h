// CentroidsShape is what a centroids region is checked against.
#pragma once

#include <cstdint>

#include "base/types.h"
#include "layout/cluster/cluster_geometry.h"

namespace farvec::layout {

/// A CentroidsShape is what the centroids of an index have to agree with.
struct CentroidsShape {
  std::uint32_t dimension = 0;  ///< dimension of the vectors
  Metric metric = Metric::l2;
  ElementType type = ElementType::f32;
  ClusterGeometry geometry;
};

}  // namespace farvec::layout
