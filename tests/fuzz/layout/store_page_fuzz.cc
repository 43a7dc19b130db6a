// Any bytes are a page of a store, which any changes leave sound or as it was; or an error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/memory.h"
#include "tests/fuzz/layout/store_fuzz.h"

namespace {

using namespace farvec;
using namespace farvec::layout;

struct Input {
  std::vector<std::byte> page;
  std::span<const std::byte> changes;
};

Input take_apart(const fuzz::PageInput& head, std::span<const std::byte> rest) {
  const auto front = rest.first(std::min<std::size_t>(head.front, rest.size()));
  rest = rest.subspan(front.size());
  const auto back = rest.first(std::min<std::size_t>(head.back, rest.size()));
  const std::size_t given = front.size() + back.size();
  const std::size_t size = head.size < 4 ? std::size_t{fuzz::kFuzzPageBytes} << head.size : given;
  Input input{std::vector<std::byte>(std::max(size, given)), rest.subspan(back.size())};
  std::ranges::copy(front, input.page.begin());
  std::ranges::copy(back, input.page.end() - static_cast<std::ptrdiff_t>(back.size()));
  return input;
}

void read_all(const StorePage& page) {
  std::size_t live = 0;
  std::byte sum{};
  for (std::uint32_t slot = 0; slot <= page.slots(); ++slot) {
    for (const std::byte b : page.tuple(slot)) sum ^= b;
    live += page.tuple(slot).size();
  }
  volatile const std::byte used = sum;
  (void)used;
  FARVEC_CHECK(live + page.hole_bytes() <= page.bytes().size());
  FARVEC_CHECK(page.room() <= max_tuple_bytes(static_cast<std::uint32_t>(page.bytes().size())));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (bytes.size() < sizeof(fuzz::PageInput)) return 0;
  const auto head = load_unaligned<fuzz::PageInput>(bytes.data());
  Input input = take_apart(head, bytes.subspan(sizeof(head)));
  if (input.page.size() < sizeof(StorePageHeader)) {
    FARVEC_CHECK(!check_sealed_page(input.page, 0).ok() && !StorePage::check(input.page, 0).ok());
    return 0;
  }
  const PageNumber number =
      load_unaligned<StorePageHeader>(input.page.data()).page ^ (head.other_number & 1u);
  const auto sound = StorePage::check(input.page, number);
  if (!sound.ok()) return 0;
  read_all(sound.value());
  fuzz::change_page(input.page, number, input.changes);
  seal_page(input.page);
  FARVEC_CHECK(check_sealed_page(input.page, number).ok());
  return 0;
}
