// Chooses how far searches look, by the recall that they are to have.
#pragma once

#include <functional>

#include "dataset/groundtruth.h"
#include "search/core/asked_search.h"

namespace farvec::measure {

/// SampleAnswers are what the searches of all queries of a sample found.
struct SampleAnswers {
  dataset::GroundTruth found;
  /// Whether distances are those of an exact search, so that rows at equal distances count alike.
  bool exact_distances = true;
};
/// Searches all queries of the sample in one way.
using SampleSearch = std::function<SampleAnswers(const search::AskedSearch& asked)>;

/// SearchReach says how far searches can look.
struct SearchReach {
  search::SearchBounds bounds;
  /// The list matters for clusters too: they have codes, or a second copy ranks candidates again.
  bool clusters_have_lists = false;
};

struct ChosenSearch {
  search::AskedSearch asked;
  double recall = 0;  ///< that the sample has
};

/// The longest list that is tried, or the largest number of clusters.
inline constexpr std::uint32_t kFarthestTry = 16'384;

/// Returns the search with the shortest list, or with the fewest clusters to probe and then the
/// shortest list, whose answers to the sample have at least this recall. `asked` says the rest.
/// What is true is found by an exact search of the sample, so conditions are met. Every try is
/// passed to `sample`: about two for each doubling. Throws Error, with the recall that was reached,
/// when it is out of reach, and what `sample` throws.
ChosenSearch choose_for_recall(const search::AskedSearch& asked, const SearchReach& reach,
                               double recall, const SampleSearch& sample);

}  // namespace farvec::measure
