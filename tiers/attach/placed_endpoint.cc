#include "tiers/attach/placed_endpoint.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"

namespace farvec::tiers {

using transport::Completion;
using transport::kTokensApart;
using transport::ReadRequest;

namespace {

Ticks to_ticks(std::chrono::milliseconds time) {
  return us_to_ticks(static_cast<double>(time.count()) * 1e3);
}

}  // namespace

PlacedEndpoint::PlacedEndpoint(const layout::Placement& placement,
                               std::shared_ptr<EndpointInbox> inbox, PlacedOptions options)
    : placement_(placement),
      inbox_(std::move(inbox)),
      node_timeout_(to_ticks(options.node_timeout)),
      last_copy_timeout_(to_ticks(std::max(options.node_timeout, options.last_copy_timeout))),
      limits_{UINT32_MAX, UINT32_MAX},
      nodes_(placement.nodes),
      last_poll_(now_ticks()) {
  adopt();
  if (living_ == 0) throw Error("none of the index's memory nodes can be read");
  for (Node& node : nodes_) node.batch.reserve(limits_.max_outstanding);
  flights_.resize(limits_.max_outstanding);
  free_.reserve(limits_.max_outstanding);
  extents_.reserve(limits_.max_outstanding);
  orphans_.reserve(limits_.max_outstanding);
  failed_.reserve(limits_.max_outstanding);
  for (std::uint32_t i = limits_.max_outstanding; i > 0; --i) free_.push_back(i - 1);
}

/// Takes the endpoints that have come. The first ones fix the limits.
void PlacedEndpoint::adopt() {
  auto arrived = inbox_->take_all();
  const bool first = flights_.empty();
  for (std::uint32_t n = 0; n < arrived.size(); ++n) {
    if (arrived[n] == nullptr) continue;
    const transport::EndpointLimits limits = arrived[n]->limits();
    if (first) {
      limits_.max_outstanding = std::min(limits_.max_outstanding, limits.max_outstanding);
      limits_.max_read_bytes = std::min(limits_.max_read_bytes, limits.max_read_bytes);
      description_ = arrived[n]->description();
    } else if (limits.max_outstanding < limits_.max_outstanding ||
               limits.max_read_bytes < limits_.max_read_bytes) {
      spdlog::warn("memory node {} came back with narrower limits and is not read by this core", n);
      continue;
    }
    install(n, std::move(arrived[n]));
  }
}

/// Reads that the node's former endpoint still owes are posted once more.
void PlacedEndpoint::install(std::uint32_t n, std::unique_ptr<transport::Endpoint> endpoint) {
  Node& node = nodes_[n];
  if (node.endpoint != nullptr) drop(node);
  node.endpoint = std::move(endpoint);
  ++living_;
  coverage_is_old_ = true;
  for (std::uint32_t number = 0; number < flights_.size(); ++number) {
    if (flights_[number].used && flights_[number].node == n) send(number);
  }
}

void PlacedEndpoint::register_memory(std::span<std::byte> memory) {
  inbox_->add_memory(memory);
  for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
    if (nodes_[n].endpoint == nullptr) continue;
    try {
      nodes_[n].endpoint->register_memory(memory);
    } catch (const Error& error) {
      if (living_ == 1) throw;
      lose(n, error.what());
    }
  }
  send_batches();
}

/// Checks the reads, and fills extents_.
Status PlacedEndpoint::find_extents(std::span<const ReadRequest> reads) {
  extents_.clear();
  for (const ReadRequest& read : reads) {
    if (read.region >= placement_.regions.size() || read.bytes > limits_.max_read_bytes) {
      return {StatusCode::invalid_argument, "a read of no region, or too long"};
    }
    const layout::RegionPlacement& region = placement_.regions[read.region];
    const bool inside = read.offset < region.region_bytes();
    const std::uint32_t extent = inside ? region.find(read.offset) : 0;
    if (!inside || region.end_of(extent) - read.offset < read.bytes) {
      return {StatusCode::invalid_argument, "a read crosses the end of its extent"};
    }
    extents_.push_back(extent);
  }
  return {};
}

Status PlacedEndpoint::post(std::span<const ReadRequest> reads) {
  if (closed_) return {StatusCode::unavailable, "the endpoint was closed"};
  if (inbox_->has_any()) adopt();
  if (living_ == 0) {
    refresh_coverage();
    return {StatusCode::unavailable, "every memory node is gone"};
  }
  if (Status status = find_extents(reads); !status.ok()) return status;
  if (reads.size() > free_.size()) {
    return {StatusCode::resource_exhausted, "too many reads are outstanding"};
  }
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const std::uint32_t number = free_.back();
    free_.pop_back();
    flights_[number] = {reads[i], 0, extents_[i], 0, 0, true};
    send(number);
  }
  send_batches();
  return {};
}

/// Puts the read into the batch of the first copy whose node lives.
void PlacedEndpoint::send(std::uint32_t number) {
  Flight& flight = flights_[number];
  const auto& extent = placement_.regions[flight.read.region].extents()[flight.extent];
  const bool again = flight.attempts++ < kMaxAttempts;
  for (const layout::ExtentCopy& copy : std::span(extent.copies).first(extent.copy_count)) {
    Node& node = nodes_[copy.node];
    if (node.endpoint == nullptr || !again) continue;
    flight.node = copy.node;
    ReadRequest below = flight.read;
    below.token = kTokensApart * number;
    below.offset = flight.offset = copy.offset + (flight.read.offset - extent.begin);
    node.batch.push_back(below);
    return;
  }
  fail(number);
}

/// It ends because each round posts every batch or loses a node.
void PlacedEndpoint::send_batches() {
  for (std::uint32_t n = 0; n < nodes_.size();) {
    Node& node = nodes_[n];
    if (node.batch.empty()) {
      ++n;
      continue;
    }
    const Status status = node.endpoint->post(node.batch);
    if (!status.ok()) {
      lose(n, status.message());
      n = 0;  // its reads are in other batches now
      continue;
    }
    if (node.outstanding == 0) node.last_progress = now_ticks();
    node.outstanding += static_cast<std::uint32_t>(node.batch.size());
    node.batch.clear();
  }
}

std::size_t PlacedEndpoint::poll(std::span<Completion> completions) {
  if (closed_) return 0;
  if (inbox_->has_any()) adopt();
  // A node is not blamed for the time in which the core did not poll.
  const Ticks now = now_ticks();
  const Ticks absent = now - last_poll_;
  last_poll_ = now;
  std::size_t count = 0;
  for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
    if (nodes_[n].outstanding == 0) continue;
    if (absent > node_timeout_ / 4) nodes_[n].last_progress += absent;
    count += poll_node(n, completions.subspan(count));
  }
  lose_silent();
  send_batches();
  return count + deliver_failed(completions.subspan(count));
}

std::size_t PlacedEndpoint::poll_node(std::uint32_t n, std::span<Completion> completions) {
  std::array<Completion, kPolledAtOnce> below;
  Node& node = nodes_[n];
  const std::size_t room = std::min(completions.size(), below.size());
  const std::size_t arrived = node.endpoint->poll(std::span(below).first(room));
  if (arrived > 0) node.last_progress = last_poll_;
  std::size_t count = 0;
  bool lost = false;
  for (const Completion& completion : std::span(below).first(arrived)) {
    --node.outstanding;
    if (completion.status == StatusCode::unavailable) {
      lost = true;  // still a flight of this node: it goes elsewhere with the others
    } else {
      completions[count++] = finish(completion);
    }
  }
  if (lost) lose(n, "a read of it came back unavailable");
  return count;
}

Completion PlacedEndpoint::finish(const Completion& below) {
  const auto number = static_cast<std::uint32_t>(below.token / kTokensApart);
  Flight& flight = flights_[number];
  flight.used = false;
  free_.push_back(number);
  // The place of a node's bytes says nothing of where the whole region's would be.
  if (below.region != nullptr && below.bytes > 0) {
    std::memcpy(flight.read.destination, below.region + flight.offset, below.bytes);
  }
  return {flight.read.token, below.status, below.bytes};
}

void PlacedEndpoint::fail(std::uint32_t number) {
  flights_[number].node = nobody();
  failed_.push_back(number);
  refresh_coverage();
}

void PlacedEndpoint::refresh_coverage() {
  if (coverage_is_old_) coverage_ = count_coverage();
  coverage_is_old_ = false;
}

std::size_t PlacedEndpoint::deliver_failed(std::span<Completion> completions) {
  const std::size_t count = std::min(completions.size(), failed_.size());
  for (std::size_t i = 0; i < count; ++i) {
    completions[i] = finish({kTokensApart * failed_.back(), StatusCode::unavailable, 0});
    failed_.pop_back();
  }
  return count;
}

/// The node's reads go to other copies, after a look at which nodes have come back meanwhile.
void PlacedEndpoint::lose(std::uint32_t n, const char* why) {
  drop(nodes_[n]);
  spdlog::warn("memory node {} is lost to this core: {}; {}", n, why, what_is_left());
  orphans_.clear();
  for (std::uint32_t number = 0; number < flights_.size(); ++number) {
    Flight& flight = flights_[number];
    if (!flight.used || flight.node != n) continue;
    flight.node = nobody();
    orphans_.push_back(number);
  }
  if (inbox_->has_any()) adopt();
  for (const std::uint32_t number : orphans_) send(number);
}

void PlacedEndpoint::drop(Node& node) {
  node.endpoint->peer_lost();
  node.endpoint->close();
  node.endpoint.reset();
  node.outstanding = 0;
  node.batch.clear();
  --living_;
  coverage_is_old_ = true;
}

void PlacedEndpoint::lose_silent() {
  for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    if (node.outstanding == 0 || last_poll_ <= node.last_progress + node_timeout_) continue;
    if (last_poll_ > node.last_progress + last_copy_timeout_ || !owes_last_copy(n)) {
      lose(n, "it owes reads and is silent");
    }
  }
}

bool PlacedEndpoint::has_living_copy(const layout::PlacedExtent& extent,
                                     std::uint32_t left_out) const {
  const auto copies = std::span(extent.copies).first(extent.copy_count);
  return std::any_of(copies.begin(), copies.end(), [&](const layout::ExtentCopy& copy) {
    return copy.node != left_out && nodes_[copy.node].endpoint != nullptr;
  });
}

bool PlacedEndpoint::owes_last_copy(std::uint32_t n) const {
  return std::any_of(flights_.begin(), flights_.end(), [&](const Flight& flight) {
    if (!flight.used || flight.node != n) return false;
    const auto& extents = placement_.regions[flight.read.region].extents();
    return !has_living_copy(extents[flight.extent], n);
  });
}

std::string PlacedEndpoint::what_is_left() const {
  const double coverage = count_coverage();
  if (coverage == 1) return "copies on other nodes are read instead";
  return fmt::format("{:.3g}% of the index can still be read", 100 * coverage);
}

double PlacedEndpoint::count_coverage() const {
  const layout::RegionPlacement& region = placement_.regions.front();
  std::uint64_t seen = 0;
  for (std::uint32_t e = 0; e < region.extents().size(); ++e) {
    const layout::PlacedExtent& extent = region.extents()[e];
    if (has_living_copy(extent, nobody())) seen += region.end_of(e) - extent.begin;
  }
  return static_cast<double>(seen) / static_cast<double>(region.region_bytes());
}

std::uint64_t PlacedEndpoint::region_bytes(transport::RegionId region) const {
  return region < placement_.regions.size() ? placement_.regions[region].region_bytes() : 0;
}

std::string PlacedEndpoint::description() const {
  return fmt::format("{} memory nodes, each {}", nodes_.size(), description_);
}

void PlacedEndpoint::peer_lost() {
  for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
    if (nodes_[n].endpoint != nullptr) lose(n, "it was given up");
  }
}

void PlacedEndpoint::close() {
  if (closed_) return;
  closed_ = true;
  inbox_->close();
  for (Node& node : nodes_) {
    if (node.endpoint != nullptr) node.endpoint->close();
    node.endpoint.reset();
    node.outstanding = 0;
    node.batch.clear();
  }
  living_ = 0;
  failed_.clear();
}

}  // namespace farvec::tiers
