#include "tiers/attach/held_file.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "search/index/region_fetch.h"
#include "tiers/attach/attachment.h"

namespace farvec::tiers {
namespace {

/// The bound for a file, besides what the bytes take at the slowest rate.
constexpr double kPatienceUs = 20e6;
constexpr double kLeastBytesPerUs = 20;
/// The bound for a file whose length only the node knows: a catalogue, which needs less for a
/// billion rows.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

std::string lengths(const std::vector<std::uint64_t>& files) {
  std::string text;
  for (const std::uint64_t bytes : files) {
    text += (text.empty() ? "" : " and ") + std::to_string(bytes);
  }
  return text.empty() ? "no" : text;
}

/// The files must be those that are asked for, before anything of them is read.
void require_files(const AttachOptions& options, const std::vector<std::uint64_t>& held,
                   const std::vector<std::uint64_t>& wanted) {
  if (!wanted.empty()) {
    if (held == wanted) return;
    throw Error(
        "the memory node at {} holds files of {} bytes where {} are due: another segment's, or it "
        "runs an older farvec",
        rpc::to_string(options.memory_node), lengths(held), lengths(wanted));
  }
  if (held.size() == 1 && held[0] > 0 && held[0] <= kMostBytes) return;
  throw Error("the memory node at {} holds {} files, where one of 1 to {} bytes is due",
              rpc::to_string(options.memory_node), held.size(), kMostBytes);
}

}  // namespace

HeldFiles fetch_held_files(const AttachOptions& options, const HeldFilesRequest& request) {
  const std::unique_ptr<Attachment> attachment = Attachment::attach(options);
  const std::vector<std::uint64_t>& held = attachment->file_bytes();
  require_files(options, held, request.bytes);
  const auto endpoint = attachment->make_endpoint();
  HeldFiles read{attachment->manifest(), {}};
  for (std::size_t i = 0; i < held.size(); ++i) {
    const auto region = static_cast<std::uint32_t>(read.manifest.held_regions() + i);
    const double patience = kPatienceUs + static_cast<double>(held[i]) / kLeastBytesPerUs;
    read.files.push_back(
        search::fetch_bytes(region, held[i], *endpoint,
                            {now_ticks() + us_to_ticks(patience), options.stop, request.on_bytes}));
  }
  endpoint->close();
  return read;
}

}  // namespace farvec::tiers
