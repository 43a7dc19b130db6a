// Removing an index: the files that farvec made, known by what is in them, and nothing else.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace farvec::layout {

/// In the folder of an index that a compute node has grouped again; says so in words.
inline constexpr const char* kRegroupedFile = "regrouped";
inline constexpr const char* kRegroupedWords = "grouped again by farvec: ";

/// Whether the file is a manifest of an index, whole or damaged.
bool is_index_manifest(const std::filesystem::path& file);

/// Removes the files of an index, or of one that was being written: regions, the manifest, ids of a
/// segment, the word that it was grouped again. Returns the names of what stays, ascending; of a
/// folder that is not there, nothing. Throws std::filesystem errors, and Error as InputFile.
std::vector<std::string> remove_index_files(const std::filesystem::path& directory);

/// As remove_index_files(); the folder goes too when nothing is left in it. A warning where
/// something stays or cannot be removed. Throws nothing.
void remove_index_with_warning(const std::filesystem::path& directory) noexcept;

}  // namespace farvec::layout
