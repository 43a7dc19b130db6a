// The companions of an index are the files beside its regions: attributes of its rows, and the
// second copy of its vectors.
#pragma once

#include <filesystem>

#include "layout/index/index_directory.h"

namespace farvec::layout {

/// Throws Error where an index that is made of this one, and written to the folder `to`, could not
/// get its companions: `to` is the index's own folder, in which a write removes them, or one of
/// them is missing or damaged. It reads no rows. To be called before anything is written.
void check_companions(const IndexDirectory& index, const std::filesystem::path& to);

/// Copies the companions of the index to another folder, which has an index of the same rows.
/// Where that fails, it removes the index there, which is of no use without them, and throws Error.
void copy_companions(const IndexDirectory& index, const std::filesystem::path& to);

}  // namespace farvec::layout
