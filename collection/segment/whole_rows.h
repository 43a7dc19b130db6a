// read_whole_rows() reads the rows of a segment whose index has fewer bits: those of its second
// copy.
#pragma once

#include <cstdint>

#include "dataset/vector_set.h"
#include "layout/index/index_directory.h"
#include "layout/index/second_copy.h"

namespace farvec::collection {

/// Reads all rows, and checks each. Throws Error naming the first one that is damaged, and what
/// options.on_chunk throws.
dataset::VectorSet read_whole_rows(const layout::SecondCopyFile& file, std::uint32_t dimension,
                                   const layout::LoadOptions& options);

}  // namespace farvec::collection
