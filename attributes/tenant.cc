#include "attributes/tenant.h"

#include <algorithm>
#include <variant>

namespace farvec::attributes {
namespace {

constexpr Status kNoTenant{StatusCode::invalid_argument,
                           "the rows belong to tenants, and the search names none: its filter has "
                           "to say which values the tenant's column has"};

struct NamesTenants {
  const std::size_t column;

  bool operator()(const Constant& constant) const { return !constant.value; }
  bool operator()(const KeyTest& test) const {
    return test.subject.column == column && test.keys.count_up_to(kMostTenants + 1) <= kMostTenants;
  }
  bool operator()(const TextTest& test) const {
    return test.subject.column == column && test.texts.size() <= kMostTenants;
  }
  bool operator()(const Group& group) const {
    const auto names = [this](const ConditionPointer& part) {
      return names_tenants(*part, column);
    };
    return group.all ? std::any_of(group.conditions.begin(), group.conditions.end(), names)
                     : std::all_of(group.conditions.begin(), group.conditions.end(), names);
  }
  /// The column is never null, and no other test bounds how many values it may have.
  template <typename Other>
  bool operator()(const Other&) const {
    return false;
  }
};

}  // namespace

bool names_tenants(const Condition& condition, std::size_t column) {
  return std::visit(NamesTenants{column}, condition.form());
}

Status require_tenants(const layout::Schema& schema, const Condition* condition) {
  const std::optional<std::size_t> column = schema.tenant();
  if (!column) return {};
  return condition != nullptr && names_tenants(*condition, *column) ? Status() : kNoTenant;
}

}  // namespace farvec::attributes
