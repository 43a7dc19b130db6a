// An AliasTable says which rows of an index share one vector: the vertex of one of them is there
// for all (docs/decisions/066).
#pragma once

#include "layout/collection/alias_file.h"
#include "postgres/engine/flat_map.h"
#include <cstddef>
#include <cstdint>
#include <vector>

namespace farvec::postgres {

/// A row is its VID. A host is a row whose vertex others share, which are its aliases; the vertex
/// stays while any of them does. All other rows are not known here. Any number of threads may read
/// it while none changes it.
class AliasTable {
 public:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  /// Takes rows that were read from a file into an empty table. Those from `before` on are left
  /// out; their hosts are not. Throws Error naming a row that cannot be.
  void take(const layout::AliasList& list, std::uint64_t before);

  /// Says whether the row may become an alias of the host: the row is the later one and is not
  /// known, and the host is no alias.
  bool can_add(std::uint64_t vid, std::uint64_t host) const;
  /// can_add() must have said yes.
  void add(std::uint64_t vid, std::uint64_t host);

  /// Says that a row comes, perhaps again. Returns false where its vector has to be inserted: it is
  /// neither an alias nor a host that had gone.
  bool comes(std::uint64_t vid);
  /// Says that a row goes. Returns true where it is a host: its vertex stays until forget().
  bool goes(std::uint64_t vid);

  /// Hosts that have lost their last alias since this was called before. They are forgotten by
  /// forget() after a list without such aliases is durable.
  std::vector<std::uint64_t> take_idle();
  /// Forgets a host that has no alias. Returns true where it had gone: its vertex is needed by no
  /// row any more. Returns false and does nothing else where it has aliases again.
  bool forget(std::uint64_t host);
  /// Says that these may be forgotten later, as take_idle() does.
  void give_back(const std::vector<std::uint64_t>& hosts);

  bool is_empty() const { return links_.size() == 0; }
  bool knows(std::uint64_t vid) const { return links_.find(vid) != nullptr; }
  /// Returns the row whose vertex has the vector of a row: itself where it is not known. kNone: it
  /// has gone, and its vertex is there for others.
  std::uint64_t vertex_of(std::uint64_t vid) const;
  /// Says whether this is a host that has gone: its vertex is there for others.
  bool has_gone(std::uint64_t vid) const;
  /// Returns the row whose vertex an alias shares, whether that one has gone or not; the row itself
  /// where it is no alias.
  std::uint64_t host_of(std::uint64_t vid) const;
  /// Returns how many rows a vertex stands for.
  std::size_t rows_of(std::uint64_t vertex) const;
  /// Calls visit(vid) for each of these rows, at most `most`, the one that came last first: it is
  /// the one that most snapshots see.
  template <typename Visit>
  void for_rows(std::uint64_t vertex, std::size_t most, const Visit& visit) const {
    const Link* const host = links_.find(vertex);
    std::uint64_t next = host != nullptr && host->is_host() ? host->next : kNone;
    for (; most > 0 && next != kNone; --most) {
      visit(next);
      next = links_.find(next)->next;
    }
    if (most > 0 && (host == nullptr || !host->has_gone())) visit(vertex);
  }

  std::size_t aliases() const { return aliases_; }
  std::size_t gone() const { return gone_; }
  std::vector<std::uint64_t> hosts() const;
  layout::AliasList list() const;
  std::size_t bytes() const { return links_.bytes() + idle_.capacity() * sizeof(idle_[0]); }
  std::size_t bytes_of_next() const { return links_.bytes_of_more(1); }

 private:
  /// An alias has its host here, and that one's aliases that came before and after it. A host has
  /// flags, how many aliases it has, and the last one that came.
  struct Link {
    static constexpr std::uint64_t kHost = std::uint64_t{1} << 63;
    static constexpr std::uint64_t kGone = std::uint64_t{1} << 62;

    bool is_host() const { return (word & kHost) != 0; }
    bool has_gone() const { return is_host() && (word & kGone) != 0; }
    std::uint32_t count() const { return static_cast<std::uint32_t>(word); }

    std::uint64_t word = kHost;
    std::uint64_t next = kNone;      ///< came before
    std::uint64_t previous = kNone;  ///< came after
  };

  void take_out(std::uint64_t vid, std::uint64_t host);
  void set_gone(Link& host, bool has_gone);

  FlatMap<Link> links_;
  std::vector<std::uint64_t> idle_;
  std::size_t aliases_ = 0;
  std::size_t gone_ = 0;
};

}  // namespace farvec::postgres
