// These functions read and replace the checkpoint file of a store's folder.
#pragma once

#include <filesystem>

#include "layout/store/checkpoint.h"

namespace farvec::paged {

std::filesystem::path checkpoint_path(const std::filesystem::path& folder);

/// Throws Error where decode_checkpoint() does, and SystemError.
layout::StoreCheckpoint load_checkpoint(const std::filesystem::path& folder);

/// Replaces the file in one step: a kill or a power cut leaves the old one or this one. Durable on
/// return. Throws SystemError.
void save_checkpoint(const std::filesystem::path& folder, layout::StoreCheckpoint checkpoint);

}  // namespace farvec::paged
