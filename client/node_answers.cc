#include "client/node_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <vector>

#include "base/error.h"
#include "base/stored_form.h"
#include "layout/attributes/schema.h"
#include "layout/cluster/cluster_layout.h"
#include "layout/graph/graph_layout.h"

namespace farvec::client {
namespace {

namespace v1 = compute_node::v1;
namespace wire = collection::v1;

/// The largest limit that a node can be started with.
constexpr std::uint32_t kMostOfALimit = 1u << 20;
/// Indexes that change, whose rows have users' ids.
constexpr std::string_view kChanging[] = {"collection", "paged"};

// The numbers on the wire are the library's plus one, in both .proto files.
constexpr int kFirst = 1;

bool is_type(int type) {
  return type >= kFirst && type < kFirst + static_cast<int>(kElementTypes.size());
}

bool is_metric(int metric) {
  return metric >= kFirst && metric < kFirst + static_cast<int>(kMetrics.size());
}

bool is_layout(std::string_view word) {
  const auto is = [word](auto kind) { return layout::to_string(kind) == word; };
  return changes_rows(word) || std::ranges::any_of(layout::kGraphLayouts, is) ||
         std::ranges::any_of(layout::kClusterLayouts, is);
}

std::string unknown(const char* field, int value) {
  return fmt::format("it says {} {}, which is none that farvec knows", field, value);
}

/// Returns what is wrong with a number that must be 1 to `most`; empty when nothing is.
std::string range_fault(const char* field, std::uint64_t value, std::uint64_t most) {
  if (value >= 1 && value <= most) return {};
  return fmt::format("it says {} {}, where 1 to {} can be", field, value, most);
}

std::string first_of(std::initializer_list<std::string> faults) {
  for (const std::string& fault : faults) {
    if (!fault.empty()) return fault;
  }
  return {};
}

std::string schema_fault(const std::string& text) {
  try {
    (void)layout::parse_schema(text);
    return {};
  } catch (const Error& error) {
    return fmt::format("it says a schema that is none: {}", error.what());
  }
}

/// Checks the types and the dimension in an answer of either service.
template <typename Answer>
std::string shape_fault(const Answer& answer) {
  if (!is_type(answer.type())) return unknown("type", answer.type());
  if (!is_type(answer.stored_type())) return unknown("stored_type", answer.stored_type());
  return range_fault("dimension", answer.dimension(), max_dimension(element_type(answer.type())));
}

std::string limits_fault(const v1::DescribeResponse& node) {
  return first_of(
      {range_fault("max_k", node.max_k(), kMostOfALimit),
       range_fault("max_list", node.max_list(), kMostOfALimit),
       range_fault("max_width", node.max_width(), kMostOfALimit),
       range_fault("max_queries_per_call", node.max_queries_per_call(), ~0u),
       node.clusters() == 0 ? std::string() : range_fault("max_probe", node.max_probe(), ~0u)});
}

/// Checks the attributes of `there` rows.
template <typename Answer>
std::string attributes_fault(const Answer& rows, const layout::Schema& schema, std::size_t there) {
  const layout::TupleView tuples = attributes_in(rows);
  const std::size_t wanted = schema.empty() ? 0 : there;
  if (tuples.count() != wanted) {
    return fmt::format("the attributes of {} rows came, where {} can be", tuples.count(), wanted);
  }
  try {
    layout::check_tuples(tuples, schema, "it sent attributes that are damaged");
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

/// Checks that distances ascend, and that none is infinite.
std::string distances_fault(const v1::QueryResult& result) {
  const auto& distances = result.distances();
  if (!std::ranges::all_of(distances, [](float distance) { return std::isfinite(distance); })) {
    return "it sent a distance that is no finite number";
  }
  if (std::ranges::is_sorted(distances)) return {};
  return "it sent distances that do not ascend";
}

template <typename Ids>
std::string repeated_fault(const Ids& ids) {
  std::vector<std::uint64_t> sorted(ids.begin(), ids.end());
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice == sorted.end()) return {};
  return fmt::format("it sent id {} twice for one query", *twice);
}

std::string result_fault(const v1::QueryResult& result, const AskedQueries& asked) {
  const std::size_t k = asked.k;
  const auto found = static_cast<std::size_t>(result.distances_size());
  const auto ids = static_cast<std::size_t>(result.ids_size());
  const auto user_ids = static_cast<std::size_t>(result.user_ids_size());
  // Ids of more than 32 bits come as user_ids alone, and the ids of an index as ids alone.
  const bool sound = found <= k && (ids == found || (ids == 0 && user_ids == found)) &&
                     (user_ids == found || user_ids == 0);
  if (!sound) {
    return fmt::format("it sent {} ids, {} user_ids and {} distances for k = {}", ids, user_ids,
                       found, k);
  }
  const std::string fault = first_of(
      {distances_fault(result), repeated_fault(result.ids()), repeated_fault(result.user_ids())});
  if (!fault.empty()) return fault;
  if (result.coverage() >= 0 && result.coverage() <= 1) {
    return attributes_fault(result, asked.select, found);
  }
  return fmt::format("it sent a coverage of {}, where 0 to 1 can be", result.coverage());
}

/// Checks how many rows came, where `there` of them were found.
std::string rows_fault(const wire::GetResponse& rows, const AskedRows& asked, std::size_t there) {
  const auto came = static_cast<std::size_t>(rows.found_size());
  const bool some = came > 0 && came < asked.ids && !asked.schema.empty();
  const std::size_t bytes = there * packed_bytes(asked.shape.type, asked.shape.dimension);
  if ((some || came == asked.ids) && rows.rows().size() == bytes) return {};
  return fmt::format("{} bytes of rows came for {} of {} ids, where {} were asked for",
                     rows.rows().size(), there, came, asked.ids);
}

/// Checks how many of the ids of a call were there.
template <typename Receipt>
std::string fault_of_ids(const Receipt& receipt, std::size_t ids) {
  if (receipt.done() <= ids && receipt.missing() == ids - receipt.done()) return {};
  return fmt::format("it says that {} of {} ids were there and {} were not", receipt.done(), ids,
                     receipt.missing());
}

}  // namespace

bool changes_rows(std::string_view layout) {
  return std::ranges::find(kChanging, layout) != std::end(kChanging);
}

std::string fault_of(const v1::DescribeResponse& node) {
  if (std::string fault = shape_fault(node); !fault.empty()) return fault;
  if (!is_metric(node.metric())) {
    return unknown("metric", node.metric());
  }
  if (!can_compare(metric(node.metric()), element_type(node.type()))) {
    return fmt::format("it says metric {}, which does not compare {}",
                       to_string(metric(node.metric())), to_string(element_type(node.type())));
  }
  if (!is_layout(node.layout())) {
    return fmt::format("it says layout '{}', which is none that farvec knows", node.layout());
  }
  if (!changes_rows(node.layout())) {
    const std::string fault = range_fault("count", node.count(), kInvalidNode);
    if (!fault.empty()) return fault;
  }
  return first_of({limits_fault(node), schema_fault(node.schema())});
}

std::string fault_of(const v1::SearchResponse& response, const AskedQueries& asked) {
  const auto came = static_cast<std::size_t>(response.results_size());
  if (came != asked.queries)
    return fmt::format("{} results came for {} queries", came, asked.queries);
  for (std::size_t i = 0; i < came; ++i) {
    const v1::QueryResult& result = response.results(static_cast<int>(i));
    if (result.status() != 0) continue;
    const std::string fault = result_fault(result, asked);
    if (!fault.empty()) return fmt::format("query {} of the call: {}", i, fault);
  }
  return {};
}

std::string fault_of(const wire::StatsResponse& state) {
  return first_of({shape_fault(state), range_fault("max_rows", state.max_rows(), ~0u),
                   range_fault("max_ids", state.max_ids(), ~0u), schema_fault(state.schema())});
}

std::string fault_of(const wire::GetResponse& rows, const AskedRows& asked) {
  const layout::StoredShape& shape = asked.shape;
  const auto there = static_cast<std::size_t>(std::ranges::count(rows.found(), true));
  if (std::string fault = rows_fault(rows, asked, there); !fault.empty()) return fault;
  if (is_type(rows.type()) && element_type(rows.type()) == shape.type &&
      rows.dimension() == shape.dimension) {
    return attributes_fault(rows, asked.schema, there);
  }
  return fmt::format("it sent rows of type {} with {} dimensions, where it said type {} with {}",
                     static_cast<int>(rows.type()), rows.dimension(),
                     static_cast<int>(shape.type) + kFirst, shape.dimension);
}

layout::Schema grown_schema(const std::string& said, const layout::Schema& known) {
  layout::Schema schema;
  try {
    schema = layout::parse_schema(said);
  } catch (const Error& error) {
    throw Error("it says a schema that is none: {}", error.what());
  }
  if (schema.begins_with(known)) return schema;
  if (known.begins_with(schema)) return known;
  throw Error("it says the schema '{}', where '{}' comes first", said, layout::to_string(known));
}

std::string fault_of(const wire::ListResponse& rows, const changes::Listing& asked,
                     const layout::Schema& schema) {
  const auto& ids = rows.ids();
  const auto came = static_cast<std::size_t>(ids.size());
  const bool ascend = std::ranges::adjacent_find(ids, std::ranges::greater_equal()) == ids.end();
  const bool in_order = ascend && (came == 0 || ids.Get(0) >= asked.from);
  if (came > asked.most || came > rows.matches() || !in_order || (rows.more() && came == 0)) {
    return fmt::format("it listed {} rows of {} that match, in an order that cannot be", came,
                       rows.matches());
  }
  if (rows.more() && ids.Get(ids.size() - 1) == ~std::uint64_t{0}) {
    return "it says that rows come after the largest id";
  }
  return attributes_fault(rows, asked.attributes ? schema : layout::Schema(), came);
}

std::string fault_of(const wire::InsertResponse& receipt, std::size_t rows) {
  if (receipt.done() == rows && receipt.replaced() <= rows) return {};
  return fmt::format("it says that {} of {} rows are in, {} of them in the place of others",
                     receipt.done(), rows, receipt.replaced());
}

std::string fault_of(const wire::DeleteResponse& receipt, std::size_t ids) {
  return fault_of_ids(receipt, ids);
}

std::string fault_of(const wire::UpdateResponse& receipt, std::size_t ids) {
  return fault_of_ids(receipt, ids);
}

ElementType element_type(v1::ElementType type) {
  return static_cast<ElementType>(static_cast<int>(type) - kFirst);
}

ElementType element_type(wire::ElementType type) {
  return static_cast<ElementType>(static_cast<int>(type) - kFirst);
}

Metric metric(v1::Metric metric) {
  return static_cast<Metric>(static_cast<int>(metric) - kFirst);
}

}  // namespace farvec::client
