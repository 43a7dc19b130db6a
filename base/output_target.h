// Finds out what the name of an output leads to before it is written.
#pragma once

#include <string>

namespace farvec {

/// Follows the links of `path` to their end: a name that is no link and need not exist, or a name
/// that stands for a descriptor of this process. Throws SystemError on a circle.
std::string follow_links(std::string path);

/// Says whether bytes for `path` go straight there: it is no regular file, or it stands for a
/// descriptor of this process. Throws Error when it is a folder.
bool is_written_directly(const std::string& path);

/// Opens a path that is_written_directly() for writing, without waiting for the reader of a FIFO.
/// Throws SystemError, and Error when there is no reader.
int open_directly(const std::string& path);

/// Removes what killed writers of `target` left beside it. Files that cannot be removed are
/// ignored.
void remove_dead_partials(const std::string& target);

}  // namespace farvec
