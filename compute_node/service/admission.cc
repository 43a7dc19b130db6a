#include "compute_node/service/admission.h"

#include <fmt/format.h>

#include <algorithm>

#include "dataset/finite.h"
#include "distance/distance.h"
#include "graph/beam_search.h"

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
    default:
      return "none that is known";
  }
}

std::string check_range(std::string_view field, std::uint64_t came, std::uint64_t least,
                        std::uint64_t most) {
  if (came >= least && came <= most) return {};
  return fmt::format("{}: {} came, {} to {} is allowed", field, came, least, most);
}

std::uint32_t list_of(const v1::SearchRequest& request, const RequestLimits& limits) {
  if (request.has_list()) return request.list();
  return std::min(std::max(limits.default_list, request.k()), limits.max_list);
}

std::uint32_t width_of(const v1::SearchRequest& request, const RequestLimits& limits) {
  return request.has_width() ? request.width() : limits.default_width;
}

search::ProbeChoice probing_of(const v1::SearchRequest& request, const RequestLimits& limits) {
  search::ProbeChoice choice;
  choice.clusters = request.has_probe() ? request.probe() : limits.default_probe;
  if (request.has_prune_ratio()) choice.prune_ratio = request.prune_ratio();
  return choice;
}

std::string check_probing(const v1::SearchRequest& request, const RequestLimits& limits) {
  const search::ProbeChoice choice = probing_of(request, limits);
  if (!(choice.prune_ratio >= 1)) {
    return fmt::format("prune_ratio: {} came, 1 or more is allowed", choice.prune_ratio);
  }
  return check_range("probe", choice.clusters, 1, limits.max_probe);
}

std::string check_parameters(const v1::SearchRequest& request, const ServedIndex& index,
                             const RequestLimits& limits) {
  const std::uint64_t most_list = index.clusters > 0 ? index.count : limits.max_list;
  const std::uint64_t most_k = std::min<std::uint64_t>({limits.max_k, most_list, index.count});
  if (std::string wrong = check_range("k", request.k(), 1, most_k); !wrong.empty()) {
    return wrong + (most_k == index.count ? ": the index has no more vectors" : "");
  }
  if (index.clusters > 0) return check_probing(request, limits);
  std::string wrong = check_range("list", list_of(request, limits), request.k(), limits.max_list);
  if (!wrong.empty()) return wrong + ": at least k";
  return check_range("width", width_of(request, limits), 1, limits.max_width);
}

std::string check_query(const v1::SearchRequest& request, int i, const ServedIndex& index) {
  const std::string& query = request.queries(i);
  const std::size_t expected = index.dimension * element_bytes(index.source_type);
  if (query.size() != expected) {
    return fmt::format("queries[{}]: {} bytes came, {} is allowed: {} x {}", i, query.size(),
                       expected, index.dimension, to_string(index.source_type));
  }
  const auto* row = reinterpret_cast<const std::byte*>(query.data());
  if (!dataset::is_finite_row(row, index.source_type, index.dimension)) {
    return fmt::format("queries[{}]: NaN or infinity came, finite values are allowed", i);
  }
  return {};
}

}  // namespace

std::string check_request(const v1::SearchRequest& request, const ServedIndex& index,
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
  std::string wrong = check_range("queries", queries, 1, limits.max_queries);
  if (wrong.empty()) wrong = check_parameters(request, index, limits);
  for (int i = 0; wrong.empty() && i < request.queries_size(); ++i) {
    wrong = check_query(request, i, index);
  }
  return wrong;
}

WorkUnits work_of(const v1::SearchRequest& request, const ServedIndex& index,
                  const RequestLimits& limits) {
  if (index.clusters == 0) return work_of(list_of(request, limits));
  return work_of(std::min(probing_of(request, limits).clusters, index.clusters));
}

std::unique_ptr<Batch> make_batch(const v1::SearchRequest& request, const ServedIndex& index,
                                  const RequestLimits& limits, Ticks deadline) {
  BatchShape shape;
  shape.queries = static_cast<std::uint32_t>(request.queries_size());
  shape.query_bytes = index.dimension * element_bytes(index.stored_type);
  shape.k = request.k();
  shape.list = list_of(request, limits);
  shape.width = width_of(request, limits);
  shape.probing = probing_of(request, limits);
  shape.partial = request.has_partial() ? request.partial() : limits.default_partial;
  shape.deadline = deadline;
  shape.work = work_of(request, index, limits);
  auto batch = std::make_unique<Batch>(shape);
  for (int i = 0; i < request.queries_size(); ++i) {
    distance::to_stored(request.queries(i).data(), index.source_type, index.metric, index.dimension,
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
  }
  return v1::METRIC_UNSPECIFIED;
}

}  // namespace farvec::compute_node
