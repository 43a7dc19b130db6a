// What programs that count over an HNSW graph in memory have in common: its options and its build.
#pragma once

#include <cstdint>

#include "base/command_line.h"
#include "base/types.h"
#include "graph/hnsw/hnsw_builder.h"
#include "ssd_baseline/paged/graph/paged_hnsw.h"

namespace farvec {

struct HnswInMemory {
  std::uint32_t m = 24, ef_construction = 200, ef_search = 40, page_bytes = 8192;

  void add_options(CommandLine& app) {
    app.add_option("--m", m).show_default();
    app.add_option("--ef-construction", ef_construction).show_default();
    app.add_option("--ef-search", ef_search).show_default();
    app.add_option("--page-bytes", page_bytes).show_default();
  }

  paged::HnswConfig config(const VectorView& rows, Metric metric) const {
    return {rows.dimension, rows.type, metric, m, ef_construction};
  }
  layout::HnswShape shape(const VectorView& rows, Metric metric) const {
    return {page_bytes, rows.dimension, rows.type, m,
            paged::hnsw_level_rule(config(rows, metric), page_bytes).max_level};
  }
  /// With levels as the pages take them.
  graph::HnswGraph build(const VectorView& rows, Metric metric) const {
    graph::HnswOptions options;
    options.levels = paged::hnsw_level_rule(config(rows, metric), page_bytes);
    options.ef_construction = ef_construction;
    return graph::build_hnsw(rows, metric, {}, options);
  }
};

}  // namespace farvec
