// Removes an index: the files that farvec made, recognised by their contents, and nothing else.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace farvec::layout {

/// The name of a file in the folder of an index that a compute node has grouped again; the file
/// says so in words.
inline constexpr const char* kRegroupedFile = "regrouped";
inline constexpr const char* kRegroupedWords = "grouped again by farvec: ";

/// Says whether the file is a manifest of an index, whole or damaged.
bool is_index_manifest(const std::filesystem::path& file);

/// Removes the files of an index, or of one that was being written: regions, the manifest, ids of a
/// segment, the file that says that it was grouped again. Returns the names of what stays,
/// ascending; empty when the folder does not exist. Throws std::filesystem errors, and Error like
/// InputFile.
std::vector<std::string> remove_index_files(const std::filesystem::path& directory);

/// Calls remove_index_files(), and removes the folder too when nothing is left in it. Logs a
/// warning where something stays or cannot be removed. Throws nothing.
void remove_index_with_warning(const std::filesystem::path& directory) noexcept;

}  // namespace farvec::layout
