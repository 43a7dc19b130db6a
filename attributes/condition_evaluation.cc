// Asks one row.
#include <algorithm>

#include "attributes/condition.h"
#include "attributes/scalar_key.h"

namespace farvec::attributes {
namespace {

Truth truth_of(bool value) {
  return value ? Truth::yes : Truth::no;
}

Truth contrary(Truth truth) {
  if (truth == Truth::unknown) return truth;
  return truth_of(truth == Truth::no);
}

bool has_label(const layout::Labels& labels, std::string_view label) {
  std::uint32_t begin = 0;
  std::uint32_t end = labels.size();
  while (begin < end) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    if (labels[middle] < label) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin < labels.size() && labels[begin] == label;
}

struct Evaluation {
  const layout::Tuple& tuple;
  const std::uint64_t id;

  Truth operator()(const Constant& constant) const { return truth_of(constant.value); }
  Truth operator()(const NullTest& test) const { return truth_of(is_null(test.subject)); }
  Truth operator()(const KeyTest& test) const {
    if (is_null(test.subject)) return Truth::unknown;
    const std::uint64_t word = test.subject.is_id() ? id : tuple.word(test.subject.column);
    return truth_of(test.keys.contains(key_of(test.subject.type, word)));
  }
  Truth operator()(const TextTest& test) const {
    if (is_null(test.subject)) return Truth::unknown;
    return truth_of(std::binary_search(test.texts.begin(), test.texts.end(),
                                       tuple.text(test.subject.column), std::less<>()));
  }
  Truth operator()(const TextRangeTest& test) const {
    if (is_null(test.subject)) return Truth::unknown;
    const std::string_view text = tuple.text(test.subject.column);
    return truth_of(is_inside(text, test));
  }
  Truth operator()(const PrefixTest& test) const {
    if (is_null(test.subject)) return Truth::unknown;
    return truth_of(tuple.text(test.subject.column).starts_with(test.prefix));
  }
  Truth operator()(const LabelTest& test) const {
    if (is_null(test.subject)) return Truth::unknown;
    const layout::Labels labels = tuple.labels(test.subject.column);
    const auto has = [&](const std::string& label) { return has_label(labels, label); };
    return truth_of(test.all ? std::all_of(test.labels.begin(), test.labels.end(), has)
                             : std::any_of(test.labels.begin(), test.labels.end(), has));
  }
  Truth operator()(const Not& outer) const {
    return contrary(std::visit(*this, outer.condition->form()));
  }
  /// All hold as far as the least does, and one of them as far as the greatest.
  Truth operator()(const Group& group) const {
    const Truth decides = truth_of(!group.all);
    Truth result = truth_of(group.all);
    for (const ConditionPointer& condition : group.conditions) {
      const Truth truth = std::visit(*this, condition->form());
      if (truth == decides) return truth;
      result = group.all ? std::min(result, truth) : std::max(result, truth);
    }
    return result;
  }

  bool is_null(const Subject& subject) const {
    return !subject.is_id() && tuple.is_null(subject.column);
  }
  static bool is_inside(std::string_view text, const TextRangeTest& test) {
    if (test.low && (test.low->included ? text < test.low->text : text <= test.low->text)) {
      return false;
    }
    return !test.high || (test.high->included ? text <= test.high->text : text < test.high->text);
  }
};

}  // namespace

Truth evaluate(const Condition& condition, const layout::Tuple& tuple, std::uint64_t id) {
  return std::visit(Evaluation{tuple, id}, condition.form());
}

}  // namespace farvec::attributes
