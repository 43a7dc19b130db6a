// The files of an index directory, beside what is in them.
#pragma once

#include <filesystem>
#include <string>

#include "layout/index/manifest.h"

namespace farvec::layout {

/// Whether a region's file may be called so: with or without the number that is added where a name
/// is taken.
bool is_region_name(std::string name);

/// Replaces the manifest in one step, or makes it. Throws SystemError; the old one then stays.
void write_manifest(const std::filesystem::path& directory, const Manifest& manifest);

/// Makes the index in `from` the one in `to` without a moment in which `to` holds none: its regions
/// get names that are free there, then `to` gets a manifest with these names, then the regions of
/// the old one are removed. For file systems that cannot exchange two directories. `manifest` is
/// the one of `from` and gets the new names. The caller has the right to change both.
void move_index(const std::filesystem::path& from, const std::filesystem::path& to,
                Manifest& manifest);

/// Removes the regions that an interrupted move_index() left: those with a name that this program
/// gives and that the manifest does not have.
void remove_unused_regions(const std::filesystem::path& directory, const Manifest& manifest);

}  // namespace farvec::layout
