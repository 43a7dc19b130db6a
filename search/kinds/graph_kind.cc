// This file says how a graph whose records are read one by one is loaded and searched.
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/memory.h"
#include "coroutines/stack_pool.h"
#include "graph/beam_scratch.h"
#include "quantization/split_codes.h"
#include "search/core/endpoint_part.h"
#include "search/core/index_kinds.h"
#include "search/searchers/graph_searcher.h"
#include "search/sources/endpoint_source.h"
#include "search/sources/mapped_source.h"

namespace farvec::search {
namespace {

template <typename Scorer>
class GraphReadPart final : public EndpointPart<GraphSearcher<EndpointNodeSource, Scorer>> {
  using Searcher = GraphSearcher<EndpointNodeSource, Scorer>;
  using Base = EndpointPart<Searcher>;

 public:
  GraphReadPart(const GraphIndex& index, std::unique_ptr<transport::Endpoint> endpoint,
                const SearchCoreOptions& options, coroutines::Scheduler& scheduler)
      : Base(able(std::move(endpoint), index.locator()),
             EndpointNodeSource::dispatcher_options(index.locator(), options.slots), scheduler,
             options.request_bytes),
        cache_(options.cache_bytes, index.locator().geometry().max_record_bytes()) {
    for (std::uint32_t s = 0; s < options.slots; ++s) {
      this->add_slot(
          std::make_unique<Searcher>(index, options.max_list,
                                     EndpointNodeSource(index.locator(), this->dispatcher(), s,
                                                        cache_, options.merge_gap_bytes)));
    }
  }

  CoreStatistics statistics() const override {
    CoreStatistics result = Base::statistics();
    result.dram_bytes += cache_.dram_bytes();
    return result;
  }

 private:
  RecordCache cache_;
};

template <typename Scorer>
class GraphLoadPart final : public SearcherPart<GraphSearcher<MappedNodeSource, Scorer>> {
  using Searcher = GraphSearcher<MappedNodeSource, Scorer>;

 public:
  GraphLoadPart(const GraphIndex& index, std::span<const std::byte> region,
                const SearchCoreOptions& options, coroutines::Scheduler& scheduler)
      : SearcherPart<Searcher>(options.request_bytes) {
    if (options.device != nullptr) reader_.emplace(options.device);
    FARVEC_CHECK(region.size() >= index.locator().region_bytes());
    for (std::uint32_t s = 0; s < options.slots; ++s) {
      this->add_slot(
          std::make_unique<Searcher>(index, options.max_list,
                                     MappedNodeSource(index.locator(), region.data(), scheduler,
                                                      reader_ ? &*reader_ : nullptr)));
    }
  }

 private:
  alignas(kCacheLineBytes) std::optional<transport::DeviceReader> reader_;
};

/// Makes the part whose scorer fits the index's codes.
template <template <typename> typename Part, typename Records>
std::unique_ptr<CorePart> make_graph_part(const GraphIndex& index, Records&& records,
                                          const SearchCoreOptions& options,
                                          coroutines::Scheduler& scheduler) {
  if (index.neighbor_codes() != nullptr) {
    return std::make_unique<Part<NeighborCodeScorer>>(index, std::forward<Records>(records),
                                                      options, scheduler);
  }
  return std::make_unique<Part<VertexCodeScorer>>(index, std::forward<Records>(records), options,
                                                  scheduler);
}

GraphIndex assemble(const layout::Manifest& manifest, layout::GraphLocator locator,
                    layout::Codes codes) {
  quantization::RabitqParameters parameters = quantization::code_parameters(codes);
  const auto make = [&](auto quantizer) {
    return GraphIndex({manifest.metric, manifest.stored_type, manifest.dimension,
                       manifest.graph().entry, std::move(locator), std::move(quantizer),
                       std::move(codes)});
  };
  if (manifest.graph().layout == layout::LayoutKind::inlined) {
    return make(quantization::NeighborCodes(std::move(parameters)));
  }
  return make(quantization::Rabitq(std::move(parameters)));
}

}  // namespace

SearchIndex load_kind(const layout::IndexDirectory& directory,
                      const layout::GraphDescription& description,
                      const layout::LoadOptions& options) {
  if (description.slotted) return slotted::load_slotted_index(directory, options);
  return assemble(directory.manifest(), directory.load_locator(options),
                  directory.load_codes(options));
}

SearchIndex fetch_kind(const layout::Manifest& manifest,
                       const layout::GraphDescription& description, transport::Endpoint& endpoint,
                       const FetchBound& bound) {
  layout::OffsetTable table;
  if (layout::needs_offset_table(description.layout)) {
    table = layout::parse_offset_table(
        fetch_region(manifest, layout::kOffsetsRegion, endpoint, bound), manifest);
  }
  layout::Codes codes =
      layout::parse_codes(fetch_region(manifest, layout::kCodesRegion, endpoint, bound),
                          manifest.codes_shape(), endpoint.description());
  return assemble(manifest, layout::GraphLocator(manifest.graph_geometry(), std::move(table)),
                  std::move(codes));
}

std::unique_ptr<CorePart> make_load_part(const GraphIndex& index, std::span<const std::byte> region,
                                         const SearchCoreOptions& options,
                                         coroutines::Scheduler& scheduler) {
  return make_graph_part<GraphLoadPart>(index, region, options, scheduler);
}

std::unique_ptr<CorePart> make_read_part(const GraphIndex& index,
                                         std::unique_ptr<transport::Endpoint> endpoint,
                                         const SearchCoreOptions& options,
                                         coroutines::Scheduler& scheduler) {
  return make_graph_part<GraphReadPart>(index, std::move(endpoint), options, scheduler);
}

std::uint64_t longest_read(const GraphIndex& index) {
  return index.locator().geometry().max_record_bytes();
}

void set_own_largest(SearchShape& shape, const GraphChoice& choice) {
  shape.list = choice.list;
  shape.width = choice.width;
}

CoreNeeds core_needs(const GraphIndex& index, const SearchShape& shape) {
  return {.lanes = EndpointNodeSource::dispatcher_options(index.locator(), shape.slots),
          .search_bytes =
              graph::graph_search_bytes({.list = shape.list,
                                         .width = shape.width,
                                         .max_degree = index.max_degree(),
                                         .node_count = static_cast<std::uint32_t>(index.count()),
                                         .dimension = index.dimension(),
                                         .improving = index.neighbor_codes() != nullptr},
                                        coroutines::kStackBytes),
          .cache_bytes = shape.cache_bytes};
}

}  // namespace farvec::search
