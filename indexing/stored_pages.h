// read_pages() reads the graph and the vectors of an index in slotted pages. It is for
// stored_graph.cc.
#pragma once

#include "indexing/stored_graph.h"
#include "layout/index/index_directory.h"

namespace farvec::indexing {

/// Fills in rows and graph, which have the size of the index. Checks every checksum. Memory: the
/// pages. Throws Error when a record is damaged or missing, and when the records hold codes and no
/// vectors are stored beside them.
void read_pages(const layout::IndexDirectory& directory, const layout::LoadOptions& options,
                StoredGraph& out);

}  // namespace farvec::indexing
