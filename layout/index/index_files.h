// Works on the files of an index directory, apart from their contents.
#pragma once

#include <filesystem>
#include <string>

#include "layout/index/manifest.h"

namespace farvec::layout {

/// Says whether a region's file may have this name: with or without the number that is added where
/// a name is taken.
bool is_region_name(std::string name);

/// Replaces the manifest in one step, or creates it. Throws SystemError; then the old one stays.
void write_manifest(const std::filesystem::path& directory, const Manifest& manifest);

/// Replaces the index in `to` with the one in `from` so that `to` holds an index at every moment.
/// The regions of `from` get names that are free in `to`, then `to` gets a manifest with these
/// names, then the regions of the old index are removed. For file systems that cannot exchange two
/// directories. `manifest` is the one of `from` and gets the new names. The caller has the right to
/// change both.
void move_index(const std::filesystem::path& from, const std::filesystem::path& to,
                Manifest& manifest);

/// Removes the regions that an interrupted move_index() left: those with a name that this program
/// gives and that the manifest does not have.
void remove_unused_regions(const std::filesystem::path& directory, const Manifest& manifest);

}  // namespace farvec::layout
