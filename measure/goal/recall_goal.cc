#include "measure/goal/recall_goal.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "dataset/recall.h"

namespace farvec::measure {
namespace {

using search::AskedSearch;

/// A Knob is the number of a search that is chosen.
struct Knob {
  const char* name;
  std::uint32_t& (*of)(AskedSearch&);
};
constexpr Knob kList{"list", [](AskedSearch& asked) -> std::uint32_t& { return asked.list; }};
constexpr Knob kProbe{"clusters to probe",
                      [](AskedSearch& asked) -> std::uint32_t& { return asked.probing.clusters; }};

class Choosing {
 public:
  Choosing(const AskedSearch& asked, double recall, const SampleSearch& sample)
      : asked_(asked), goal_(recall), sample_(sample) {
    AskedSearch exact = asked;
    exact.exact = true;
    truth_ = sample_(exact).found;
    possible_ = share_of_truth(truth_, true);
  }

  /// Sets the knob to the least number from `least` to `most` with the recall.
  void choose(const Knob& knob, std::uint32_t least, std::uint32_t most) {
    std::map<std::uint32_t, double> tried;
    const auto reaches = [&](std::uint32_t value) {
      const auto [place, is_new] = tried.try_emplace(value, 0);
      if (is_new) place->second = recall_with(knob, value);
      return place->second >= goal_;
    };
    std::uint32_t below = least;
    std::uint32_t enough = least;
    while (!reaches(enough)) {
      if (enough >= most) {
        throw Error("recall {:g} is out of reach: with {} = {} it is {:.4f}", goal_, knob.name,
                    enough, tried[enough]);
      }
      below = enough;
      enough = static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{enough} * 2, most));
    }
    while (enough - below > 1) {
      const std::uint32_t middle = below + (enough - below) / 2;
      (reaches(middle) ? enough : below) = middle;
    }
    knob.of(asked_) = enough;
    recall_ = tried[enough];
  }

  AskedSearch& asked() { return asked_; }
  ChosenSearch chosen() const { return {asked_, recall_}; }

 private:
  double recall_with(const Knob& knob, std::uint32_t value) const {
    AskedSearch asked = asked_;
    knob.of(asked) = value;
    const SampleAnswers answers = sample_(asked);
    return possible_ > 0 ? share_of_truth(answers.found, answers.exact_distances) / possible_ : 1;
  }
  double share_of_truth(const dataset::GroundTruth& found, bool exact_distances) const {
    return dataset::recall_at_k(
        {found.ids.data(), exact_distances ? found.distances.data() : nullptr, found.queries,
         found.k},
        truth_, found.k);
  }

  AskedSearch asked_;
  const double goal_;
  const SampleSearch& sample_;
  dataset::GroundTruth truth_;
  double possible_ = 1;  ///< less where a condition leaves fewer than k rows
  double recall_ = 0;
};

}  // namespace

ChosenSearch choose_for_recall(const AskedSearch& asked, const SearchReach& reach, double recall,
                               const SampleSearch& sample) {
  const search::SearchBounds& bounds = reach.bounds;
  const auto most_list = static_cast<std::uint32_t>(
      std::min<std::uint64_t>({bounds.list, bounds.vectors, kFarthestTry}));
  const std::uint32_t least_list = std::min(asked.k, most_list);
  Choosing choosing(asked, recall, sample);
  if (bounds.kind == layout::IndexKind::cluster) {
    if (reach.clusters_have_lists) choosing.asked().list = most_list;
    choosing.choose(kProbe, 1, std::min(bounds.clusters, kFarthestTry));
    if (!reach.clusters_have_lists) return choosing.chosen();
  }
  choosing.choose(kList, least_list, most_list);
  return choosing.chosen();
}

}  // namespace farvec::measure
