// HeldTuples are the tuples of the rows of a segment, or of an index, that memory nodes hold.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/memory.h"
#include "layout/attributes/tuple_source.h"
#include "tiers/attach/attach_options.h"
#include "tiers/attach/node_set.h"

namespace farvec::tiers {

/// Says where the file of attributes lies.
struct HeldPlace {
  std::shared_ptr<NodeSet> nodes;
  std::uint32_t region = 0;
  /// How each of the nodes is attached by itself, the first one that is read first: they have
  /// copies of the file, or none.
  std::vector<AttachOptions> copies;
  std::chrono::milliseconds patience{5'000};  ///< for the nodes at first, and for each read
  std::string name;                           ///< for messages: "segment 3"
};

/// Keeps 12 bytes for each row in DRAM: where its tuple ends, and 32 bits of its checksum. A tuple
/// is read one-sidedly, from another copy where a node is lost, and none is returned that is not
/// what it was. One thread reads at a time; others wait for it.
class HeldTuples final : public layout::TupleSource {
 public:
  /// `all` are the tuples that the file has; they are sound, and are not kept.
  HeldTuples(HeldPlace place, const layout::TupleView& all);
  ~HeldTuples() override;

  layout::Tuples read(const layout::Schema& schema) const override;
  /// Throws UnreachableError when no node can be read within the time of a call, Error when every
  /// copy of the tuple is damaged.
  std::vector<std::byte> read_row(NodeId row, const layout::Schema& schema) const override;
  std::size_t dram_bytes() const override;

 private:
  struct Piece {
    std::uint64_t offset = 0;  ///< in the region
    std::size_t bytes = 0;
  };

  Piece piece_of(NodeId row) const;
  bool is_sound(NodeId row, std::span<const std::byte> tuple) const;
  std::vector<std::byte> read_from_set(const Piece& piece) const;
  std::vector<std::byte> read_from_node(const AttachOptions& options, const Piece& piece) const;
  std::vector<std::byte> read_another(NodeId row) const;
  void connect() const;
  Ticks deadline() const;

  const HeldPlace place_;
  std::vector<std::uint64_t> ends_;
  std::vector<std::uint32_t> sums_;
  mutable std::mutex mutex_;  ///< guards the members below
  mutable HugeBuffer buffer_;
  mutable std::unique_ptr<transport::Endpoint> endpoint_;  ///< null: not connected
};

}  // namespace farvec::tiers
