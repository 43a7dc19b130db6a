// A search as somebody asks for it who may ask for what cannot be.
#pragma once

#include <cstdint>
#include <string_view>

#include "layout/index/manifest.h"
#include "search/core/search_parameters.h"

namespace farvec::search {

/// Of both kinds of index, because it is asked before the kind is known: a report shows all of it,
/// a compute node is sent all of it and checks it itself, and an index in this process is searched
/// with what check_limits() makes of it.
struct AskedSearch {
  std::uint32_t k = 10;
  std::uint32_t list = 64;
  std::uint32_t width = 1;
  ProbeChoice probing{.clusters = 16};
  bool partial = false;  ///< go on without records that no memory node can deliver

  SearchChoice choice(layout::IndexKind kind) const {
    const GraphChoice graph{.list = list, .width = width};
    switch (kind) {
      case layout::IndexKind::graph:
        return graph;
      case layout::IndexKind::cluster: {
        ProbeChoice choice = probing;
        choice.list = list;
        return choice;
      }
    }
    return graph;
  }
};

/// What whoever asks calls the numbers of a search, for messages.
struct SearchNames {
  std::string_view k;
  std::string_view list;
  std::string_view width;
  std::string_view probe;
  std::string_view prune_ratio;
  std::string_view bound = ", the most that the node allows";  ///< what bounds it
};
/// The options of commands.
inline constexpr SearchNames kOptionNames{"--k", "--list", "--width", "--probe", "--prune-ratio"};

/// An index that is searched in this process has no limit but memory.
SearchBounds limits_of(const layout::Manifest& manifest);

/// What a search of an index of that kind does with what was asked for. Throws StatusError
/// (invalid_argument) naming the number that is not allowed, and what is. Looks at list and width
/// for a graph alone, and at the clusters to probe for clusters alone.
SearchParameters check_limits(const AskedSearch& asked, const SearchBounds& limits,
                              const SearchNames& names = kOptionNames);

}  // namespace farvec::search
