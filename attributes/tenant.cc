#include "attributes/tenant.h"

#include <algorithm>
#include <cstdint>
#include <variant>

namespace farvec::attributes {
namespace {

constexpr Status kNoTenant{StatusCode::invalid_argument,
                           "the rows belong to tenants, and the search names none, or more than "
                           "1000: its filter has to say which values the tenant's column has"};
static_assert(kMostTenants == 1000);

/// More than any condition may name.
constexpr std::uint64_t kAnyNumber = kMostTenants + 1;

/// Counts the tenants that a condition leaves, kAnyNumber at most.
struct TenantsLeft {
  const std::size_t column;

  std::uint64_t of(const Condition& condition) const { return std::visit(*this, condition.form()); }

  std::uint64_t operator()(const Constant& constant) const {
    return constant.value ? kAnyNumber : 0;
  }
  std::uint64_t operator()(const KeyTest& test) const {
    return test.subject.column == column ? test.keys.count_up_to(kAnyNumber) : kAnyNumber;
  }
  std::uint64_t operator()(const TextTest& test) const {
    if (test.subject.column != column) return kAnyNumber;
    return std::min<std::uint64_t>(test.texts.size(), kAnyNumber);
  }
  std::uint64_t operator()(const Group& group) const {
    std::uint64_t left = group.all ? kAnyNumber : 0;
    for (const ConditionPointer& part : group.conditions) {
      left = group.all ? std::min(left, of(*part)) : std::min(left + of(*part), kAnyNumber);
    }
    return left;
  }
  /// No other test bounds how many values a column may have.
  template <typename Other>
  std::uint64_t operator()(const Other&) const {
    return kAnyNumber;
  }
};

}  // namespace

bool names_tenants(const Condition& condition, std::size_t column) {
  return TenantsLeft{column}.of(condition) <= kMostTenants;
}

Status require_tenants(const layout::Schema& schema, const Condition* condition) {
  const std::optional<std::size_t> column = schema.tenant();
  if (!column) return {};
  return condition != nullptr && names_tenants(*condition, *column) ? Status() : kNoTenant;
}

}  // namespace farvec::attributes
