// SharedPool says what a pool is to the reader in front of it: it has records by id, in slots that
// all cores share.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/status.h"
#include "base/types.h"

namespace farvec::slotted {

inline constexpr std::uint32_t kNoSlot = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint32_t kNoPage = std::numeric_limits<std::uint32_t>::max();

/// A RecordPlace says where a record is, as far as can be seen without a lock. It may have changed
/// since.
struct RecordPlace {
  enum class State : std::uint8_t { absent, loading, resident };
  State state = State::absent;
  std::uint32_t page = kNoPage;  ///< known when the record is absent; in a pool of pages always
};

/// A SlotClaim is a slot that the caller must fill() or release(), or the reason why there is none.
struct SlotClaim {
  enum class Outcome : std::uint8_t {
    claimed,
    taken,  ///< another caller brings the record
    none,   ///< none was free or could be evicted within the steps
  };
  Outcome outcome = Outcome::none;
  std::uint32_t slot = kNoSlot;
  bool evicted = false;  ///< whether another record was evicted from the slot
};

/// Reads one kind of page. parse() checks it. Page is a view of its bytes that is cheap to copy.
template <typename Codec>
concept PageCodec = requires(const Codec& codec, const typename Codec::Page& page, NodeId id,
                             std::span<const std::byte> bytes,
                             void (*visit)(NodeId, std::span<const std::byte>)) {
  { codec.parse(std::uint32_t{}, bytes) } -> std::same_as<Result<typename Codec::Page>>;
  { codec.find(page, id) } -> std::same_as<Result<std::span<const std::byte>>>;
  // Returns the same page, checked before, at another address.
  { codec.moved(page, bytes) } -> std::same_as<typename Codec::Page>;
  // Calls visit(id, record) for the other records of the page with the color of `id`, if it has
  // one.
  codec.for_each_affine(page, id, visit);
  // Calls visit(id, record) for all records of the page.
  codec.for_each(page, visit);
};

/// Thread-safe; nothing in it suspends.
template <typename Pool>
concept SharedPool = PageCodec<typename Pool::Codec> &&
    requires(Pool& pool, NodeId id, std::uint32_t n, const typename Pool::Codec::Page& page,
             Status (*visit)(std::span<const std::byte>), Status& status) {
  { pool.codec() } -> std::same_as<const typename Pool::Codec&>;
  { pool.place(id) } -> std::same_as<RecordPlace>;
  // Sets status = visit(record) with the record held in place, or returns false when it is not
  // there.
  { pool.read(id, visit, status) } -> std::same_as<bool>;
  // Claims a slot for `id`, which place() has found absent from memory and in page `n`. The second
  // number is the most slots that it examines.
  { pool.claim(id, n, n) } -> std::same_as<SlotClaim>;
  // Puts the record of the page, or all of the page, into a claimed slot and shows it to all. The
  // slot is released when the page does not have the record.
  pool.fill(n, id, page);
  pool.release(n);
  // To be called after fill(). It keeps other records of the page too, those with the color of `id`
  // if there are any, and returns how many it kept and how many that evicted.
  { pool.take_along(id, n, page) } -> std::same_as<std::pair<std::uint32_t, std::uint32_t>>;
};

}  // namespace farvec::slotted
