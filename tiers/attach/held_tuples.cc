#include "tiers/attach/held_tuples.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/unreachable_error.h"
#include "layout/collection/segment_attributes.h"
#include "tiers/attach/attachment.h"

namespace farvec::tiers {
namespace {

std::uint32_t sum_of(std::span<const std::byte> tuple) {
  return static_cast<std::uint32_t>(XXH3_64bits(tuple.data(), tuple.size()));
}

/// Makes one read. deadline_exceeded: it is still out, and the endpoint must be closed.
Status read_once(transport::Endpoint& endpoint, const transport::ReadRequest& read,
                 Ticks deadline) {
  if (Status status = endpoint.post({&read, 1}); !status.ok()) return status;
  transport::Completion done;
  while (endpoint.poll({&done, 1}) == 0) {
    if (now_ticks() > deadline) return {StatusCode::deadline_exceeded, "the time was up"};
    std::this_thread::yield();
  }
  if (done.status != StatusCode::ok) return {done.status, "a read failed"};
  if (done.bytes != read.bytes) return {StatusCode::data_loss, "a read came short"};
  if (done.region != nullptr) std::memcpy(read.destination, done.region + read.offset, read.bytes);
  return {};
}

/// Reads from `offset` of the region on into `out`, which the endpoint knows.
Status read_into(transport::Endpoint& endpoint, std::uint32_t region, std::uint64_t offset,
                 std::span<std::byte> out, Ticks deadline) {
  const std::size_t most = endpoint.limits().max_read_bytes;
  if (most == 0) return {StatusCode::internal, "the endpoint allows no reads"};
  for (std::size_t at = 0; at < out.size(); at += most) {
    const auto bytes = static_cast<std::uint32_t>(std::min(most, out.size() - at));
    const transport::ReadRequest read{0, region, bytes, offset + at, out.data() + at};
    if (Status status = read_once(endpoint, read, deadline); !status.ok()) return status;
  }
  return {};
}

}  // namespace

HeldTuples::HeldTuples(HeldPlace place, const layout::TupleView& all) : place_(std::move(place)) {
  ends_.reserve(all.count());
  sums_.reserve(all.count());
  for (std::size_t row = 0; row < all.count(); ++row) {
    ends_.push_back(all.ends[row] - all.begin);
    sums_.push_back(sum_of(all.row(row)));
  }
}

HeldTuples::~HeldTuples() = default;

HeldTuples::Piece HeldTuples::piece_of(NodeId row) const {
  const std::uint64_t begin = row == 0 ? 0 : ends_[row - 1];
  return {layout::segment_tuples_begin(ends_.size()) + begin, ends_[row] - begin};
}

bool HeldTuples::is_sound(NodeId row, std::span<const std::byte> tuple) const {
  return sum_of(tuple) == sums_[row];
}

Ticks HeldTuples::deadline() const {
  return now_ticks() + us_to_ticks(static_cast<double>(place_.patience.count()) * 1e3);
}

/// The set is waited for once, since it attaches its nodes in the background.
void HeldTuples::connect() const {
  if (endpoint_ != nullptr) return;
  place_.nodes->wait_ready(buffer_.size() == 0 ? place_.patience : std::chrono::milliseconds(0));
  if (buffer_.size() == 0) buffer_ = HugeBuffer(layout::kMostTupleBytes);
  auto endpoint = place_.nodes->make_endpoint();
  endpoint->register_memory(buffer_.span());
  endpoint_ = std::move(endpoint);
}

std::vector<std::byte> HeldTuples::read_from_set(const Piece& piece) const {
  const std::lock_guard lock(mutex_);
  connect();
  const std::span<std::byte> to = buffer_.span().first(piece.bytes);
  const Status status = read_into(*endpoint_, place_.region, piece.offset, to, deadline());
  if (status.ok()) return {to.begin(), to.end()};
  endpoint_.reset();  // which gives the buffer back; the next read connects anew
  throw UnreachableError("attributes of {} cannot be read from its memory nodes: {}", place_.name,
                         status.message());
}

std::vector<std::byte> HeldTuples::read_from_node(const AttachOptions& options,
                                                  const Piece& piece) const {
  const auto attachment = Attachment::attach(options);
  HugeBuffer buffer(piece.bytes);
  const auto endpoint = attachment->make_endpoint();
  endpoint->register_memory(buffer.span());
  const Status status =
      read_into(*endpoint, place_.region, piece.offset, buffer.span(), deadline());
  endpoint->close();
  if (status.ok()) return {buffer.span().begin(), buffer.span().end()};
  throw UnreachableError("reading the memory node at {}: {}", rpc::to_string(options.memory_node),
                         status.message());
}

/// Looks for a copy that is not damaged: the set reads the first node that lives.
std::vector<std::byte> HeldTuples::read_another(NodeId row) const {
  std::string failures;
  for (const AttachOptions& copy : place_.copies) {
    const std::string address = rpc::to_string(copy.memory_node);
    try {
      std::vector<std::byte> tuple = read_from_node(copy, piece_of(row));
      if (is_sound(row, tuple)) return tuple;
      failures += fmt::format("; the copy on the memory node at {} is damaged", address);
    } catch (const Error& error) {
      failures += fmt::format("; {}", error.what());
    }
  }
  throw Error("the attributes of row {} of {} cannot be read{}", row, place_.name, failures);
}

std::vector<std::byte> HeldTuples::read_row(NodeId row, const layout::Schema& schema) const {
  std::vector<std::byte> tuple = read_from_set(piece_of(row));
  if (!is_sound(row, tuple)) tuple = read_another(row);
  layout::check_tuple(tuple, schema, fmt::format("row {} of {} on memory nodes", row, place_.name));
  return tuple;
}

layout::Tuples HeldTuples::read(const layout::Schema& schema) const {
  layout::Tuples all;
  for (NodeId row = 0; row < ends_.size(); ++row) all.append(read_row(row, schema));
  return all;
}

std::size_t HeldTuples::dram_bytes() const {
  return ends_.capacity() * sizeof(ends_[0]) + sums_.capacity() * sizeof(sums_[0]);
}

}  // namespace farvec::tiers
