#include "compute_node/index_loader.h"

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"
#include "compute_node/region_fetch.h"

namespace farvec::compute_node {
namespace {

GraphIndex assemble(const layout::Manifest& manifest, layout::GraphLocator locator,
                    layout::Codes codes) {
  quantization::RabitqParameters parameters = code_parameters(codes);
  return GraphIndex({manifest.metric, manifest.stored_type, manifest.dimension, manifest.entry,
                     std::move(locator), quantization::Rabitq(std::move(parameters)),
                     std::move(codes)});
}

}  // namespace

layout::CodesHeader codes_header(const quantization::RabitqParameters& parameters,
                                 std::uint64_t count) {
  layout::CodesHeader header;
  header.bits = parameters.bits;
  header.dimension = parameters.dimension;
  header.record_bytes = static_cast<std::uint32_t>(
      quantization::Rabitq::record_bytes(parameters.dimension, parameters.bits));
  header.metric = parameters.metric;
  header.type = parameters.type;
  header.seed = parameters.seed;
  header.count = count;
  header.add_min = parameters.add_min;
  header.add_max = parameters.add_max;
  header.rescale_min = parameters.rescale_min;
  header.rescale_max = parameters.rescale_max;
  header.error_max = parameters.error_max;
  return header;
}

quantization::RabitqParameters code_parameters(const layout::Codes& codes) {
  const layout::CodesHeader& header = codes.header;
  quantization::RabitqParameters parameters;
  parameters.dimension = header.dimension;
  parameters.bits = header.bits;
  parameters.metric = header.metric;
  parameters.type = header.type;
  parameters.seed = header.seed;
  parameters.centroid = codes.centroid;
  parameters.add_min = header.add_min;
  parameters.add_max = header.add_max;
  parameters.rescale_min = header.rescale_min;
  parameters.rescale_max = header.rescale_max;
  parameters.error_max = header.error_max;
  return parameters;
}

GraphIndex load_graph_index(const layout::IndexDirectory& directory,
                            const layout::LoadOptions& options) {
  return assemble(directory.manifest(), directory.load_locator(options),
                  directory.load_codes(options));
}

GraphIndex fetch_graph_index(const layout::Manifest& manifest, transport::Endpoint& endpoint,
                             const FetchOptions& options) {
  const auto bytes = static_cast<double>(manifest.region(layout::kCodesRegion).file_bytes() +
                                         manifest.region(layout::kOffsetsRegion).file_bytes());
  const double seconds = options.deadline_seconds + bytes / options.least_bytes_per_second;
  const FetchBound bound{now_ticks() + us_to_ticks(seconds * 1e6), options.stop};
  layout::OffsetTable table;
  if (manifest.layout == layout::LayoutKind::csr) {
    table = layout::parse_offset_table(
        fetch_region(manifest, layout::kOffsetsRegion, endpoint, bound), manifest);
  }
  layout::Codes codes =
      layout::parse_codes(fetch_region(manifest, layout::kCodesRegion, endpoint, bound), manifest,
                          endpoint.description());
  layout::GraphLocator locator(manifest.geometry(), std::move(table));
  if (manifest.placement) layout::check_records(*manifest.placement, locator);
  return assemble(manifest, std::move(locator), std::move(codes));
}

}  // namespace farvec::compute_node
