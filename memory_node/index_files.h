// These functions find the attributes of an index that a memory node serves by itself, in the
// index's folder.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "layout/index/index_directory.h"
#include "memory_node/held_file.h"
#include "memory_node/region_table.h"

namespace farvec::memory_node {

/// Opens the files that become regions of the node after those of the index: the schema, then the
/// attributes. There are none where the rows have no attributes, where the index is placed and
/// another node has them, and on a device. Throws Error where the attributes in the folder are not
/// those of the index, and for a device where the rows belong to tenants.
std::vector<std::shared_ptr<const OpenedFile>> open_attributes(
    const layout::IndexDirectory& directory, const LoadRequest& request);

std::uint64_t bytes_of(const std::vector<std::shared_ptr<const OpenedFile>>& files);

/// Throws Error unless the regions of these files, if there are some, are whole and belong
/// together.
void require_attributes(const RegionTable& table, const layout::IndexDirectory& directory);

}  // namespace farvec::memory_node
