#include "attributes/condition_builder.h"

#include <algorithm>
#include <span>
#include <utility>

#include "attributes/scalar_key.h"

namespace farvec::attributes {
namespace {

const Constant* constant_of(const ConditionPointer& condition) {
  return std::get_if<Constant>(&condition->form());
}

bool same_subject(const ConditionPointer& condition, const Subject& subject) {
  const auto* test = std::get_if<KeyTest>(&condition->form());
  return test != nullptr && test->subject == subject;
}

/// Puts the parts of groups of the same kind in place of these.
std::vector<ConditionPointer> flattened(bool all, std::vector<ConditionPointer> conditions) {
  std::vector<ConditionPointer> flat;
  for (ConditionPointer& condition : conditions) {
    const auto* group = std::get_if<Group>(&condition->form());
    if (group != nullptr && group->all == all) {
      flat.insert(flat.end(), group->conditions.begin(), group->conditions.end());
    } else {
      flat.push_back(std::move(condition));
    }
  }
  return flat;
}

/// Returns one test in place of several tests of keys of one subject; nothing where it would take
/// more literals than they do.
ConditionPointer merged(bool all, std::span<const ConditionPointer> tests) {
  const auto& first = std::get<KeyTest>(tests.front()->form());
  KeyRanges keys = first.keys;
  std::size_t literals = form_of(keys, first.subject.type).literals;
  for (const ConditionPointer& condition : tests.subspan(1)) {
    const KeyRanges& more = std::get<KeyTest>(condition->form()).keys;
    literals += form_of(more, first.subject.type).literals;
    keys = all ? keys.common(more) : keys.united(more);
  }
  const KeyForm form = form_of(keys, first.subject.type);
  if (form.shape == KeyShape::scattered || form.literals > literals) return nullptr;
  return key_test(first.subject, std::move(keys));
}

/// Returns the same end for the strings on its other side.
TextEnd opposite(const std::optional<TextEnd>& end) {
  return {end->text, !end->included};
}

void sort_unique(std::vector<ConditionPointer>& conditions) {
  std::sort(conditions.begin(), conditions.end(),
            [](const auto& one, const auto& other) { return *one < *other; });
  const auto equal = [](const auto& one, const auto& other) { return *one == *other; };
  conditions.erase(std::unique(conditions.begin(), conditions.end(), equal), conditions.end());
}

/// Merges the tests of keys of each subject. They stand side by side, since all are sorted.
std::vector<ConditionPointer> with_merged_keys(bool all, std::vector<ConditionPointer> sorted) {
  std::vector<ConditionPointer> result;
  for (auto begin = sorted.begin(); begin != sorted.end();) {
    auto end = std::next(begin);
    ConditionPointer one;
    if (const auto* test = std::get_if<KeyTest>(&(*begin)->form())) {
      end = std::find_if_not(end, sorted.end(), [&](const ConditionPointer& condition) {
        return same_subject(condition, test->subject);
      });
      if (end - begin > 1) one = merged(all, {begin, end});
    }
    if (one != nullptr) {
      result.push_back(std::move(one));
    } else {
      result.insert(result.end(), begin, end);
    }
    begin = end;
  }
  return result;
}

}  // namespace

std::strong_ordering operator<=>(const Not& one, const Not& other) {
  return *one.condition <=> *other.condition;
}

bool operator==(const Not& one, const Not& other) {
  return *one.condition == *other.condition;
}

std::strong_ordering operator<=>(const Group& one, const Group& other) {
  if (one.all != other.all) return one.all <=> other.all;
  return std::lexicographical_compare_three_way(
      one.conditions.begin(), one.conditions.end(), other.conditions.begin(),
      other.conditions.end(), [](const auto& a, const auto& b) { return *a <=> *b; });
}

bool operator==(const Group& one, const Group& other) {
  return (one <=> other) == std::strong_ordering::equal;
}

ConditionPointer make_test(Condition::Form form) {
  return std::make_shared<const Condition>(std::move(form));
}

ConditionPointer constant(bool value) {
  return make_test(Constant{value});
}

ConditionPointer key_test(Subject subject, KeyRanges keys) {
  if (subject.is_id()) {  // which is never null
    if (keys.empty()) return constant(false);
    if (keys.complement(keys_of(subject.type)).empty()) return constant(true);
  }
  return make_test(KeyTest{std::move(subject), std::move(keys)});
}

ConditionPointer negated(const ConditionPointer& condition) {
  if (const Constant* value = constant_of(condition)) return constant(!value->value);
  if (const auto* inner = std::get_if<Not>(&condition->form())) return inner->condition;
  if (const auto* test = std::get_if<KeyTest>(&condition->form())) {
    return key_test(test->subject, test->keys.complement(keys_of(test->subject.type)));
  }
  if (const auto* test = std::get_if<TextRangeTest>(&condition->form())) {
    if (!test->low) return make_test(TextRangeTest{test->subject, opposite(test->high), {}});
    if (!test->high) return make_test(TextRangeTest{test->subject, {}, opposite(test->low)});
  }
  return make_test(Not{condition});
}

ConditionPointer grouped(bool all, std::vector<ConditionPointer> conditions) {
  conditions = flattened(all, std::move(conditions));
  sort_unique(conditions);
  conditions = with_merged_keys(all, std::move(conditions));
  const auto decides = [&](const ConditionPointer& condition) {
    return constant_of(condition) != nullptr && constant_of(condition)->value != all;
  };
  if (std::any_of(conditions.begin(), conditions.end(), decides)) return constant(!all);
  std::erase_if(conditions,
                [](const auto& condition) { return constant_of(condition) != nullptr; });
  sort_unique(conditions);
  if (conditions.empty()) return constant(all);
  if (conditions.size() == 1) return conditions.front();
  return make_test(Group{all, std::move(conditions)});
}

KeyForm form_of(const KeyRanges& keys, layout::ColumnType type) {
  const KeyRange all = keys_of(type);
  const KeyRanges others = keys.complement(all);
  const std::uint64_t points = keys.count_up_to(kMostTerms + 1);
  const std::uint64_t holes = others.count_up_to(kMostTerms + 1);
  if (points == 0) return {KeyShape::none, 1};
  if (holes == 0) return {KeyShape::every, 1};
  if (points == 1) return {KeyShape::points, 1};
  if (holes == 1 && type != layout::ColumnType::boolean) return {KeyShape::not_points, 1};
  if (keys.ranges().size() == 1) {
    const KeyRange range = keys.ranges().front();
    if (range.first == all.first) return {KeyShape::at_most, 1};
    if (range.last == all.last) return {KeyShape::at_least, 1};
    return {KeyShape::between, 2};
  }
  if (points <= 2) return {KeyShape::points, points};
  if (others.ranges().size() == 1) return {KeyShape::not_between, 2};
  if (points <= std::min<std::uint64_t>(holes, kMostTerms)) return {KeyShape::points, points};
  if (holes <= kMostTerms) return {KeyShape::not_points, holes};
  return {KeyShape::scattered, 0};
}

}  // namespace farvec::attributes
