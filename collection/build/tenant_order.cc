#include "collection/build/tenant_order.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>

namespace farvec::collection {
namespace {

/// The tenant of a row; none comes after all others.
template <typename Value>
struct Owner {
  bool none = false;
  Value value = {};

  auto operator<=>(const Owner&) const = default;
};

std::string_view value_of(const layout::Tuple& tuple, std::size_t column, std::string_view) {
  return tuple.text(column);
}
/// Integers with a sign come in another order than their values, but those of a tenant together.
std::uint64_t value_of(const layout::Tuple& tuple, std::size_t column, std::uint64_t) {
  return tuple.word(column);
}

template <typename Value>
std::vector<Owner<Value>> owners_of(const layout::TupleView& attributes, std::size_t column) {
  std::vector<Owner<Value>> owners;
  owners.reserve(attributes.count());
  for (std::size_t row = 0; row < attributes.count(); ++row) {
    const layout::Tuple tuple(attributes.row(row));
    const bool none = tuple.is_null(column);
    owners.push_back({none, none ? Value() : value_of(tuple, column, Value())});
  }
  return owners;
}

template <typename Value>
std::vector<NodeId> order_of(const std::vector<Owner<Value>>& owners) {
  if (std::is_sorted(owners.begin(), owners.end())) return {};
  std::vector<NodeId> order(owners.size());
  std::iota(order.begin(), order.end(), NodeId{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](NodeId a, NodeId b) { return owners[a] < owners[b]; });
  return order;
}

template <typename Value>
bool are_small(const std::vector<Owner<Value>>& owners) {
  std::uint64_t small = 0;
  for (std::size_t begin = 0, end = 0; begin < owners.size(); begin = end) {
    while (end < owners.size() && owners[end] == owners[begin]) ++end;
    if (end - begin <= kSmallTenant) small += end - begin;
  }
  return 2 * small >= owners.size();
}

bool is_text(const layout::Schema& schema, std::size_t column) {
  return schema[column].type == layout::ColumnType::string;
}

}  // namespace

std::vector<NodeId> tenant_order(const layout::Schema& schema,
                                 const layout::TupleView& attributes) {
  const std::optional<std::size_t> tenant = schema.tenant();
  if (!tenant) return {};
  if (is_text(schema, *tenant)) return order_of(owners_of<std::string_view>(attributes, *tenant));
  return order_of(owners_of<std::uint64_t>(attributes, *tenant));
}

bool are_small_tenants(const layout::Schema& schema, const layout::TupleView& attributes) {
  const std::optional<std::size_t> tenant = schema.tenant();
  if (!tenant) return false;
  if (is_text(schema, *tenant)) return are_small(owners_of<std::string_view>(attributes, *tenant));
  return are_small(owners_of<std::uint64_t>(attributes, *tenant));
}

std::vector<NodeId> places_in(std::span<const NodeId> order) {
  std::vector<NodeId> places(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) places[order[i]] = static_cast<NodeId>(i);
  return places;
}

}  // namespace farvec::collection
