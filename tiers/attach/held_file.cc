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

/// The bound for the whole, besides what the bytes take at the slowest rate.
constexpr double kPatienceUs = 20e6;
constexpr double kLeastBytesPerUs = 20;
/// The bound for a file whose length only the node knows: a catalogue, which needs less for a
/// billion rows.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

}  // namespace

HeldFile fetch_held_file(const AttachOptions& options, const HeldFileRequest& request) {
  const std::unique_ptr<Attachment> attachment = Attachment::attach(options);
  const std::uint64_t held = attachment->file_bytes();
  const std::uint64_t most = request.bytes.value_or(kMostBytes);
  if (held == 0 || held > most || held != request.bytes.value_or(held)) {
    throw Error(
        "the memory node at {} holds a file of {} bytes where {} are due",
        rpc::to_string(options.memory_node), held,
        request.bytes ? std::to_string(*request.bytes) : fmt::format("1 to {}", kMostBytes));
  }
  const auto endpoint = attachment->make_endpoint();
  const auto region = static_cast<std::uint32_t>(attachment->manifest().regions.size());
  const double patience = kPatienceUs + static_cast<double>(held) / kLeastBytesPerUs;
  HugeBuffer read =
      search::fetch_bytes(region, held, *endpoint,
                          {now_ticks() + us_to_ticks(patience), options.stop, request.on_bytes});
  endpoint->close();
  return {attachment->manifest(), std::move(read)};
}

}  // namespace farvec::tiers
