#include "ssd_baseline/paged/store/checkpoint_file.h"

#include <algorithm>
#include <array>

#include "base/input_file.h"
#include "base/output_file.h"

namespace farvec::paged {

std::filesystem::path checkpoint_path(const std::filesystem::path& folder) {
  return folder / "checkpoint";
}

layout::StoreCheckpoint load_checkpoint(const std::filesystem::path& folder) {
  const std::string path = checkpoint_path(folder).string();
  const InputFile file(path);
  // It has room for one byte too many, so that a file that is too long is noticed.
  std::array<std::byte, sizeof(layout::StoreCheckpoint) + 1> bytes{};
  const std::size_t count = std::min<std::uint64_t>(file.size(), bytes.size());
  file.read_at(0, bytes.data(), count);
  return layout::decode_checkpoint(std::span(bytes).first(count), path.c_str());
}

void save_checkpoint(const std::filesystem::path& folder, layout::StoreCheckpoint checkpoint) {
  layout::seal_checkpoint(checkpoint);
  OutputFile file(checkpoint_path(folder).string(), sizeof(checkpoint));
  file.append(&checkpoint, sizeof(checkpoint));
  file.commit();
}

}  // namespace farvec::paged
