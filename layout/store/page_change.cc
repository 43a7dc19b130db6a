#include "layout/store/page_change.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"
#include "layout/store/store_page.h"

namespace farvec::layout {
namespace {

/// Precedes the bytes of a change.
struct ChangeHeader {
  std::uint16_t change = 0;
  std::uint16_t slot = 0;    ///< for init, the page's kind
  std::uint16_t offset = 0;  ///< for patch
  std::uint16_t bytes = 0;   ///< bytes that follow
};
static_assert(sizeof(ChangeHeader) == 8);

/// The bytes of an init.
struct InitBytes {
  std::uint32_t tag = 0;
  PageNumber next = 0;
};
static_assert(sizeof(InitBytes) == 8);

Status wrong(const char* what) {
  return {StatusCode::invalid_argument, what};
}

std::uint32_t stored_bytes(std::size_t tuple_bytes) {
  return static_cast<std::uint32_t>(round_up(tuple_bytes, kTupleAlignment));
}

}  // namespace

/// The slots and tuples of a page that is being changed.
class PageTuples {
 public:
  explicit PageTuples(std::span<std::byte> page)
      : page_(page), header_(load_unaligned<StorePageHeader>(page.data())) {}

  Status put(std::uint16_t slot, std::span<const std::byte> tuple) {
    if (slot > header_.slots) return wrong("a tuple is put after the next new slot");
    if (tuple.empty()) return wrong("a tuple without bytes");
    const bool is_new = slot == header_.slots;
    const std::uint32_t old = is_new ? 0 : stored_bytes(at(slot).bytes);
    const std::uint32_t wanted = stored_bytes(tuple.size());
    if (old == wanted) {
      write(slot, at(slot).offset, tuple);
      return {};
    }
    const std::uint32_t new_slot = is_new ? sizeof(StoreSlot) : 0;
    if (wanted + new_slot > hole() + header_.dead_bytes + old) {
      return {StatusCode::resource_exhausted, "a tuple does not fit its page"};
    }
    if (!is_new) drop(slot);
    if (wanted + new_slot > hole()) compact();
    if (is_new) ++header_.slots;
    header_.tuples_begin = static_cast<std::uint16_t>(header_.tuples_begin - wanted);
    write(slot, header_.tuples_begin, tuple);
    save();
    return {};
  }

  Status erase(std::uint16_t slot) {
    if (slot >= header_.slots || at(slot).bytes == 0) return wrong("a slot without a tuple");
    drop(slot);
    save();
    return {};
  }

  Status patch(std::uint16_t slot, std::uint32_t offset, std::span<const std::byte> bytes) {
    if (slot >= header_.slots) return wrong("a slot without a tuple");
    const StoreSlot where = at(slot);
    if (offset + bytes.size() > where.bytes) return wrong("bytes after the end of a tuple");
    if (!bytes.empty()) {
      std::memcpy(page_.data() + where.offset + offset, bytes.data(), bytes.size());
    }
    return {};
  }

 private:
  StoreSlot at(std::uint32_t slot) const { return StorePage(page_).slot(slot); }
  void set(std::uint32_t slot, StoreSlot where) {
    store_unaligned(page_.data() + sizeof(StorePageHeader) + slot * sizeof(StoreSlot), where);
  }
  void save() { store_unaligned(page_.data(), header_); }

  std::uint32_t slots_end() const {
    return static_cast<std::uint32_t>(sizeof(StorePageHeader) + header_.slots * sizeof(StoreSlot));
  }
  std::uint32_t hole() const { return header_.tuples_begin - slots_end(); }

  void drop(std::uint32_t slot) {
    header_.dead_bytes =
        static_cast<std::uint16_t>(header_.dead_bytes + stored_bytes(at(slot).bytes));
    set(slot, {});
  }

  void write(std::uint32_t slot, std::uint32_t offset, std::span<const std::byte> tuple) {
    std::byte* const place = page_.data() + offset;
    std::memcpy(place, tuple.data(), tuple.size());
    std::memset(place + tuple.size(), 0, stored_bytes(tuple.size()) - tuple.size());
    set(slot, {static_cast<std::uint16_t>(offset), static_cast<std::uint16_t>(tuple.size())});
  }

  /// Moves tuples to the end of the page, the first slot's tuple last; bytes that become free are
  /// zero.
  void compact() {
    std::array<std::byte, kMaxStorePageBytes> moved;
    std::size_t begin = page_.size();
    for (std::uint32_t slot = 0; slot < header_.slots; ++slot) {
      const StoreSlot where = at(slot);
      if (where.bytes == 0) continue;
      const std::uint32_t bytes = stored_bytes(where.bytes);
      begin -= bytes;
      std::memcpy(moved.data() + begin, page_.data() + where.offset, bytes);
      set(slot, {static_cast<std::uint16_t>(begin), where.bytes});
    }
    std::memset(page_.data() + slots_end(), 0, begin - slots_end());
    std::memcpy(page_.data() + begin, moved.data() + begin, page_.size() - begin);
    header_.tuples_begin = static_cast<std::uint16_t>(begin);
    header_.dead_bytes = 0;
  }

  std::span<std::byte> page_;
  StorePageHeader header_;
};

namespace {

void init_page(std::span<std::byte> page, const PageChange& change) {
  const auto before = load_unaligned<StorePageHeader>(page.data());
  format_page(page, before.page);
  auto header = load_unaligned<StorePageHeader>(page.data());
  header.checksum = before.checksum;
  header.position = before.position;
  header.kind = change.kind;
  header.tag = change.tag;
  header.next = change.next;
  store_unaligned(page.data(), header);
}

/// Whether a header has only what its kind of change can have.
bool is_sound(const ChangeHeader& header) {
  switch (static_cast<ChangeKind>(header.change)) {
    case ChangeKind::init:
      return header.offset == 0 && header.bytes == sizeof(InitBytes);
    case ChangeKind::put:
      return header.offset == 0 && header.bytes > 0;
    case ChangeKind::erase:
      return header.offset == 0 && header.bytes == 0;
    case ChangeKind::patch:
      return true;
    case ChangeKind::set_next:
    case ChangeKind::set_tag:
      return header.slot == 0 && header.offset == 0 && header.bytes == sizeof(std::uint32_t);
  }
  return false;
}

void append_bytes(std::vector<std::byte>& out, const void* bytes, std::size_t count) {
  const auto* const first = static_cast<const std::byte*>(bytes);
  out.insert(out.end(), first, first + count);
}

void append_change(std::vector<std::byte>& out, const PageChange& change, const void* bytes,
                   std::size_t count) {
  const ChangeHeader header{static_cast<std::uint16_t>(change.change),
                            change.change == ChangeKind::init ? change.kind : change.slot,
                            change.offset, static_cast<std::uint16_t>(count)};
  append_bytes(out, &header, sizeof(header));
  append_bytes(out, bytes, count);
}

}  // namespace

Status apply_change(std::span<std::byte> page, const PageChange& change) {
  switch (change.change) {
    case ChangeKind::init:
      init_page(page, change);
      return {};
    case ChangeKind::put:
      return PageTuples(page).put(change.slot, change.bytes);
    case ChangeKind::erase:
      return PageTuples(page).erase(change.slot);
    case ChangeKind::patch:
      return PageTuples(page).patch(change.slot, change.offset, change.bytes);
    case ChangeKind::set_next:
      store_unaligned(page.data() + offsetof(StorePageHeader, next), change.next);
      return {};
    case ChangeKind::set_tag:
      store_unaligned(page.data() + offsetof(StorePageHeader, tag), change.tag);
      return {};
  }
  return wrong("no such change of a page");
}

void encode(const PageChange& change, std::vector<std::byte>& out) {
  switch (change.change) {
    case ChangeKind::init: {
      const InitBytes bytes{change.tag, change.next};
      return append_change(out, change, &bytes, sizeof(bytes));
    }
    case ChangeKind::set_next:
      return append_change(out, change, &change.next, sizeof(change.next));
    case ChangeKind::set_tag:
      return append_change(out, change, &change.tag, sizeof(change.tag));
    default:
      FARVEC_CHECK(change.bytes.size() <= kMaxStorePageBytes, "bytes longer than a page");
      return append_change(out, change, change.bytes.data(), change.bytes.size());
  }
}

Result<PageChange> decode_change(std::span<const std::byte>& rest) {
  if (rest.size() < sizeof(ChangeHeader)) return Status(StatusCode::data_loss, "half a change");
  const auto header = load_unaligned<ChangeHeader>(rest.data());
  if (!is_sound(header) || header.bytes > rest.size() - sizeof(header)) {
    return Status(StatusCode::data_loss, "bytes that are no change of a page");
  }
  const auto bytes = rest.subspan(sizeof(header), header.bytes);
  rest = rest.subspan(sizeof(header) + header.bytes);
  PageChange change{.change = static_cast<ChangeKind>(header.change)};
  switch (change.change) {
    case ChangeKind::init: {
      const auto init = load_unaligned<InitBytes>(bytes.data());
      change.kind = header.slot;
      change.tag = init.tag;
      change.next = init.next;
      break;
    }
    case ChangeKind::set_next:
      change.next = load_unaligned<PageNumber>(bytes.data());
      break;
    case ChangeKind::set_tag:
      change.tag = load_unaligned<std::uint32_t>(bytes.data());
      break;
    default:
      change.slot = header.slot;
      change.offset = header.offset;
      change.bytes = bytes;
  }
  return change;
}

}  // namespace farvec::layout
