// This header refuses searches that do not name the tenants whose rows they mean.
#pragma once

#include <cstddef>

#include "attributes/condition.h"
#include "base/status.h"
#include "layout/attributes/schema.h"

namespace farvec::attributes {

/// A condition that allows more tenants than this names none.
inline constexpr std::size_t kMostTenants = 1000;

/// Says whether the condition itself says which values the column may have, kMostTenants at most:
/// by `=` or `in`, or by a range of so few integers. Each alternative of an `or` has to, and they
/// add up; one part of an `and` is enough.
bool names_tenants(const Condition& condition, std::size_t column);

/// Returns ok where the schema has no tenant's column, or the condition (null: there is none) names
/// tenants; else invalid_argument. Does not allocate.
Status require_tenants(const layout::Schema& schema, const Condition* condition);

}  // namespace farvec::attributes
