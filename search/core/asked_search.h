// An AskedSearch is a search as a caller asks for it, who may ask for something impossible.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "layout/index/manifest.h"
#include "search/core/search_parameters.h"

namespace farvec::search {

/// It has the parameters of both kinds of index, because it is made before the kind is known. A
/// report shows all of it, a compute node is sent all of it and checks it itself, and an index in
/// this process is searched with the result of check_limits(). The filter is for the caller to
/// parse.
struct AskedSearch {
  std::uint32_t k = 10;
  std::uint32_t list = 64;
  std::uint32_t width = 1;
  ProbeChoice probing{.clusters = 16};
  bool partial = false;  ///< go on without records that no memory node can deliver
  bool exact = false;    ///< compare the query with all rows (SearchRequest::exact)
  /// Results are no farther than this (SearchRequest::within); k is then the most that there are.
  float within = std::numeric_limits<float>::infinity();
  /// The text of a condition that results meet (attributes/condition.h); empty: there is none.
  std::string filter = {};
  FilterPlan plan = FilterPlan::chosen;  ///< SearchRequest::plan
  std::uint32_t refine = 0;              ///< SearchRequest::refine
  bool candidates = false;               ///< SearchRequest::candidates
  /// Columns of the attributes that come with the results.
  std::vector<std::string> select = {};

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

/// SearchNames are the names that the caller uses for the numbers of a search, for messages.
struct SearchNames {
  std::string_view k;
  std::string_view list;
  std::string_view width;
  std::string_view probe;
  std::string_view prune_ratio;
  std::string_view bound = ", the most that the node allows";  ///< what sets the limit
  std::string_view refine = "--refine";
  std::string_view candidates = "--candidates";
};
/// The names of the options of commands.
inline constexpr SearchNames kOptionNames{"--k", "--list", "--width", "--probe", "--prune-ratio"};

/// The most results of a search that does not say how many: of one for the nearest rows, and of one
/// for the rows within a distance.
inline constexpr std::uint32_t kUsualNearest = 10;
inline constexpr std::uint32_t kUsualWithin = 1000;

/// Parses "chosen", "walk" or "scan". Throws StatusError (invalid_argument) beginning with `name`.
FilterPlan parse_filter_plan(std::string_view text, std::string_view name);

/// Returns these, or as many as the limits allow.
std::uint32_t usual_k(bool is_within, const SearchBounds& limits);

/// Returns the limits of an index that is searched in this process, where only memory limits a
/// search.
SearchBounds limits_of(const layout::Manifest& manifest);

/// Returns the parameters with which an index of that kind is searched. Throws StatusError
/// (invalid_argument) naming the number that is not allowed, and what is allowed. Checks list and
/// width for a graph only, and the clusters to probe for clusters only. Also checks what is asked
/// of a second copy.
SearchParameters check_limits(const AskedSearch& asked, const SearchBounds& limits,
                              const SearchNames& names = kOptionNames);

}  // namespace farvec::search
