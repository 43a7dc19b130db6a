// A search as the options of a command ask for it.
#pragma once

#include <cstdint>

#include "search/search_parameters.h"

namespace farvec::cli {

/// Of both kinds of index, because it is asked before the kind is known: a report shows all of it,
/// a compute node is sent all of it and checks it itself, and an index in this process is searched
/// with what check_limits() makes of it.
struct AskedSearch {
  std::uint32_t k = 10;
  std::uint32_t list = 64;
  std::uint32_t width = 1;
  search::ProbeChoice probing{.clusters = 16};
  bool partial = false;  ///< go on without records that no memory node can deliver

  search::SearchChoice choice(layout::IndexKind kind) const {
    const search::GraphChoice graph{.list = list, .width = width};
    switch (kind) {
      case layout::IndexKind::graph:
        return graph;
      case layout::IndexKind::cluster:
        return probing;
    }
    return graph;
  }
};

}  // namespace farvec::cli
