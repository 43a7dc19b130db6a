#include "compute_node/service/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

#include "attributes/condition.h"
#include "base/error.h"
#include "search/core/queries.h"

namespace farvec::compute_node {
namespace {

std::string_view name_of(v1::ElementType type) {
  switch (type) {
    case v1::ELEMENT_TYPE_F32:
      return to_string(ElementType::f32);
    case v1::ELEMENT_TYPE_F16:
      return to_string(ElementType::f16);
    case v1::ELEMENT_TYPE_U8:
      return to_string(ElementType::u8);
    case v1::ELEMENT_TYPE_I8:
      return to_string(ElementType::i8);
    case v1::ELEMENT_TYPE_B1:
      return to_string(ElementType::b1);
    default:
      return "none that is known";
  }
}

std::string out_of_range(std::string_view field, std::uint64_t came, std::uint64_t least,
                         std::uint64_t most) {
  return fmt::format("{}: {} came, {} to {} is allowed", field, came, least, most);
}

search::GraphChoice graph_choice(const v1::SearchRequest& request, const RequestLimits& limits) {
  const std::uint32_t usual = std::min(std::max(limits.default_list, request.k()), limits.max_list);
  return {.list = request.has_list() ? request.list() : usual,
          .width = request.has_width() ? request.width() : limits.default_width};
}

search::ProbeChoice probe_choice(const v1::SearchRequest& request, const RequestLimits& limits) {
  search::ProbeChoice choice;
  choice.clusters = request.has_probe() ? request.probe() : limits.default_probe;
  choice.list =
      std::min(request.has_list() ? request.list() : limits.default_list, limits.max_list);
  if (request.has_prune_ratio()) choice.prune_ratio = request.prune_ratio();
  return choice;
}

/// Reads what the request asks of an index of that kind.
search::SearchChoice read_choice(const v1::SearchRequest& request, layout::IndexKind kind,
                                 const RequestLimits& limits) {
  switch (kind) {
    case layout::IndexKind::graph:
      break;
    case layout::IndexKind::cluster:
      return probe_choice(request, limits);
  }
  return graph_choice(request, limits);
}

search::SearchBounds bounds_of(const ServedIndex& index, const RequestLimits& limits) {
  search::SearchBounds bounds{
      .kind = index.kind,
      .vectors = index.user_ids ? search::SearchBounds{}.vectors : index.count,
      .k = limits.max_k,
      .list = limits.max_list,
      .width = limits.max_width,
      .clusters = limits.max_probe};
  if (index.kind == layout::IndexKind::graph) bounds.k = std::min(limits.max_k, limits.max_list);
  return bounds;
}

std::string k_out_of_range(std::uint32_t k, const search::SearchBounds& bounds) {
  const std::uint64_t most = std::min<std::uint64_t>(bounds.k, bounds.vectors);
  return out_of_range("k", k, 1, most) +
         (most == bounds.vectors ? ": the index has no more vectors" : "");
}

/// Describes the fault in the request's names. `choice` has the index's kind, because the request
/// is read for it.
std::string describe_fault(search::SearchFault fault, std::uint32_t k,
                           const search::SearchChoice& choice, const search::SearchBounds& bounds) {
  using search::SearchFault;
  const auto* graph = std::get_if<search::GraphChoice>(&choice);
  const auto* probing = std::get_if<search::ProbeChoice>(&choice);
  switch (fault) {
    case SearchFault::list_below_k:
    case SearchFault::list_above_bound:
      return out_of_range("list", graph->list, k, bounds.list) + ": at least k";
    case SearchFault::width_out_of_range:
    case SearchFault::width_above_bound:
      return out_of_range("width", graph->width, 1, bounds.width);
    case SearchFault::prune_ratio_below_one:
      return fmt::format("prune_ratio: {} came, 1 or more is allowed", probing->prune_ratio);
    case SearchFault::clusters_zero:
    case SearchFault::clusters_above_bound:
      return out_of_range("probe", probing->clusters, 1, bounds.clusters);
    default:
      return k_out_of_range(k, bounds);
  }
}

/// Sets `result`, or returns what is wrong.
std::string read_parameters(const v1::SearchRequest& request, const ServedIndex& index,
                            const RequestLimits& limits, search::SearchParameters& result) {
  const search::SearchBounds bounds = bounds_of(index, limits);
  const search::SearchChoice choice = read_choice(request, index.kind, limits);
  const search::SearchFault fault = search::find_fault(request.k(), choice, bounds);
  if (fault != search::SearchFault::none) return describe_fault(fault, request.k(), choice, bounds);
  result = search::SearchParameters::make(request.k(), choice).value();
  return {};
}

std::string check_form(const v1::SearchRequest& request, const ServedIndex& index,
                       const RequestLimits& limits) {
  if (request.type() != to_proto(index.source_type)) {
    return fmt::format("type: {} came, {} is allowed: the index was built from it",
                       name_of(request.type()), to_string(index.source_type));
  }
  if (request.dimension() != index.dimension) {
    return fmt::format("dimension: {} came, {} is allowed: that of the index", request.dimension(),
                       index.dimension);
  }
  const auto queries = static_cast<std::uint64_t>(request.queries_size());
  if (queries >= 1 && queries <= limits.max_queries) return {};
  return out_of_range("queries", queries, 1, limits.max_queries);
}

/// Sets `result`, or returns what is wrong.
std::string read_filter(const std::string& filter, const ServedIndex& index,
                        attributes::ConditionPointer& result) {
  if (filter.empty()) return {};
  if (!index.schema) {
    return fmt::format(
        "filter: '{:.60}' came, none is allowed: the rows of the {} index that the node serves "
        "have "
        "no attributes",
        filter, index.layout);
  }
  try {
    result = attributes::parse_condition(filter, *index.schema());
    return {};
  } catch (const Error& error) {
    return fmt::format("filter: {}", error.what());
  }
}

/// Sets `result`, or returns what is wrong.
std::string read_select(const v1::SearchRequest& request, const ServedIndex& index,
                        std::vector<std::size_t>& result) {
  if (request.select_size() == 0) return {};
  try {
    const std::vector<std::string> names(request.select().begin(), request.select().end());
    result = index.schema ? index.schema()->require(names) : layout::Schema().require(names);
    return {};
  } catch (const Error& error) {
    return fmt::format("select: {}", error.what());
  }
}

/// Returns what is wrong with what is asked of a second copy.
std::string check_refining(const v1::SearchRequest& request, const ServedIndex& index,
                           const search::SearchParameters& parameters) {
  using search::SearchFault;
  switch (search::find_fault({request.refine(), request.candidates()}, parameters,
                             {.refines = index.refines})) {
    case SearchFault::none:
      return {};
    case SearchFault::no_second_copy:
      return fmt::format("{}: the index has no second copy of its vectors: leave it out",
                         request.candidates() ? "candidates" : "refine");
    case SearchFault::refined_candidates:
      return "refine: candidates are not ranked again: leave one of both out";
    default:
      return out_of_range("refine", request.refine(), 1, parameters.candidates() / parameters.k());
  }
}

WorkUnits query_work(const search::SearchChoice& choice, const ServedIndex& index) {
  const std::uint32_t size = search::size_of(choice);
  const bool clusters = std::holds_alternative<search::ProbeChoice>(choice);
  return work_of(clusters ? std::min(size, index.clusters) : size);
}

search::RowForm form_of(const ServedIndex& index) {
  return {index.metric, index.source_type, index.stored_type, index.dimension};
}

std::string check_query(const v1::SearchRequest& request, int i, const ServedIndex& index) {
  const std::string& query = request.queries(i);
  const std::size_t expected = packed_bytes(index.source_type, index.dimension);
  if (query.size() != expected) {
    return fmt::format("queries[{}]: {} bytes came, {} is allowed: {} x {}", i, query.size(),
                       expected, index.dimension, to_string(index.source_type));
  }
  const std::string_view fault =
      search::fault_of_query(reinterpret_cast<const std::byte*>(query.data()), form_of(index));
  if (fault.empty()) return {};
  return fmt::format("queries[{}]: a vector came that {}; others are allowed", i, fault);
}

}  // namespace

std::uint32_t most_queries(const RequestLimits& limits, std::size_t query_bytes) {
  constexpr std::size_t kOthers = std::size_t{1} << 20;  // a filter, and names of fields
  constexpr std::size_t kPrefix = 8;                     // what a query comes with
  const std::size_t most = (kMostRequestBytes - kOthers) / (query_bytes + kPrefix);
  return static_cast<std::uint32_t>(std::min<std::size_t>(limits.max_queries, most));
}

WorkUnits exact_work(const ServedIndex& index) {
  // More rows than a u32 counts weigh no more.
  constexpr std::uint64_t kMostRows = std::numeric_limits<std::uint32_t>::max();
  return work_of(static_cast<std::uint32_t>(std::min(index.count, kMostRows)));
}

Admission check_request(const v1::SearchRequest& request, const ServedIndex& index,
                        const RequestLimits& limits) {
  Admission result;
  BatchShape& shape = result.shape;
  result.wrong = check_form(request, index, limits);
  if (result.wrong.empty()) {
    result.wrong = read_parameters(request, index, limits, shape.parameters);
  }
  if (result.wrong.empty()) {
    result.wrong = check_refining(request, index, shape.parameters);
  }
  if (result.wrong.empty()) {
    result.wrong = read_filter(request.filter(), index, shape.condition);
  }
  if (result.wrong.empty() && std::isnan(request.within())) {
    result.wrong = "within: NaN came, a number is allowed";
  }
  if (result.wrong.empty() && !v1::FilterPlan_IsValid(request.plan())) {
    result.wrong = fmt::format("plan: {} came, 0 to {} are allowed",
                               static_cast<int>(request.plan()), v1::FilterPlan_MAX);
  }
  if (result.wrong.empty()) result.wrong = read_select(request, index, shape.select);
  for (int i = 0; result.wrong.empty() && i < request.queries_size(); ++i) {
    result.wrong = check_query(request, i, index);
  }
  if (!result.wrong.empty()) return result;
  shape.queries = static_cast<std::uint32_t>(request.queries_size());
  shape.query_bytes = packed_bytes(index.stored_type, index.dimension);
  shape.user_ids = index.user_ids;
  shape.partial = request.has_partial() ? request.partial() : limits.default_partial;
  shape.exact = request.exact();
  if (request.has_within()) shape.within = request.within();
  shape.plan = static_cast<search::FilterPlan>(request.plan());
  shape.refine = request.refine();
  shape.candidates = request.candidates();
  shape.work = shape.exact ? exact_work(index) : query_work(shape.parameters.choice(), index);
  return result;
}

std::unique_ptr<Batch> make_batch(const v1::SearchRequest& request, const ServedIndex& index,
                                  const BatchShape& shape) {
  auto batch = std::make_unique<Batch>(shape);
  const search::RowForm form = form_of(index);
  for (int i = 0; i < request.queries_size(); ++i) {
    search::compare_as(reinterpret_cast<const std::byte*>(request.queries(i).data()), form,
                       batch->query_slot(static_cast<std::size_t>(i)));
  }
  return batch;
}

v1::ElementType to_proto(ElementType type) {
  switch (type) {
    case ElementType::f32:
      return v1::ELEMENT_TYPE_F32;
    case ElementType::f16:
      return v1::ELEMENT_TYPE_F16;
    case ElementType::u8:
      return v1::ELEMENT_TYPE_U8;
    case ElementType::i8:
      return v1::ELEMENT_TYPE_I8;
    case ElementType::b1:
      return v1::ELEMENT_TYPE_B1;
  }
  return v1::ELEMENT_TYPE_UNSPECIFIED;
}

v1::Metric to_proto(Metric metric) {
  switch (metric) {
    case Metric::l2:
      return v1::METRIC_L2;
    case Metric::inner_product:
      return v1::METRIC_INNER_PRODUCT;
    case Metric::cosine:
      return v1::METRIC_COSINE;
    case Metric::hamming:
      return v1::METRIC_HAMMING;
    case Metric::jaccard:
      return v1::METRIC_JACCARD;
  }
  return v1::METRIC_UNSPECIFIED;
}

}  // namespace farvec::compute_node
