// copy_index() gives an index a second folder.
#pragma once

#include <filesystem>

#include "layout/index/index_directory.h"
#include "layout/index/index_writer.h"

namespace farvec::layout {

/// Writes the index into `directory`, without its placement, as write_index() writes one: every
/// chunk that is read is checked. Files beside the regions, such as those of attributes, stay where
/// they are. Memory: one chunk. Throws what IndexDirectory and write_index() throw; then nothing
/// stays. Returns the manifest as written.
Manifest copy_index(const IndexDirectory& index, const std::filesystem::path& directory,
                    const WriteOptions& options = {});

}  // namespace farvec::layout
