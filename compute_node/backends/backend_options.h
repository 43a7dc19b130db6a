// BackendOptions are what every backend may ask of the daemon, besides its source.
#pragma once

#include <chrono>
#include <memory>

#include "rpc/tls.h"
#include "search/core/search_shape.h"

namespace farvec::compute_node {

struct BackendOptions {
  search::SearchShape largest;  ///< the largest searches that are admitted, without a cache
  std::chrono::milliseconds attach_bound{30'000};  ///< for the first attachment to memory nodes
  std::shared_ptr<const rpc::Tls> tls;             ///< to memory nodes, over TCP; null: none
};

}  // namespace farvec::compute_node
