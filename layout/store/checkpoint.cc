#include "layout/store/checkpoint.h"

#include <xxhash.h>

#include "base/error.h"
#include "base/memory.h"
#include "layout/store/store_page.h"

namespace farvec::layout {
namespace {

std::uint64_t checksum_of(const StoreCheckpoint& checkpoint) {
  return XXH3_64bits(&checkpoint, offsetof(StoreCheckpoint, checksum));
}

}  // namespace

void seal_checkpoint(StoreCheckpoint& checkpoint) {
  checkpoint.checksum = checksum_of(checkpoint);
}

StoreCheckpoint decode_checkpoint(std::span<const std::byte> bytes, const char* name) {
  if (bytes.size() < sizeof(StoreCheckpoint)) {
    throw Error("'{}' has {} bytes, a checkpoint has {}: take the store's folder from a backup",
                name, bytes.size(), sizeof(StoreCheckpoint));
  }
  const auto checkpoint = load_unaligned<StoreCheckpoint>(bytes.data());
  if (checkpoint.magic != kCheckpointMagic) {
    throw Error("'{}' is no checkpoint of a page store: take the store's folder from a backup",
                name);
  }
  if (checkpoint.version != kStoreVersion) {
    throw Error("'{}' is of version {}, this farvec reads {}: use the farvec that wrote it", name,
                checkpoint.version, kStoreVersion);
  }
  if (bytes.size() != sizeof(checkpoint) || checkpoint.checksum != checksum_of(checkpoint) ||
      !is_store_page_bytes(checkpoint.page_bytes)) {
    throw Error("'{}' is damaged: take the store's folder from a backup", name);
  }
  return checkpoint;
}

}  // namespace farvec::layout
