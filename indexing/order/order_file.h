// These functions read and write a file with an order of rows that another program has found.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/types.h"

namespace farvec::indexing {

/// Reads an .ibin file of `count` rows of one id each (u32 count, u32 1, ids): the row to insert
/// first, then the second, and so on. Throws Error unless it names each of `count` rows exactly
/// once, and says where it first does not.
std::vector<NodeId> read_order(const std::string& path, std::size_t count);

/// Writes what read_order() reads. Throws Error for another suffix and for no rows, SystemError
/// when it cannot be written.
void write_order(const std::string& path, std::span<const NodeId> order);

}  // namespace farvec::indexing
