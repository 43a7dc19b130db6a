// Writes sound requests of every kind, each after those that it needs.
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "layout/attributes/tuple.h"
#include "tests/fuzz/engine/asked_requests.h"
#include "tests/fuzz/seed_files.h"

namespace {

using namespace farvec;

constexpr AskedIndex kIndex = fuzz::kAskedShape.index;
constexpr std::uint32_t kRows = 20;
constexpr std::uint32_t kDeadlineMs = 1000;

class Input {
 public:
  template <typename... Parts>
  void ask(AskOperation operation, const Parts&... parts) {
    std::vector<std::byte> request;
    (append(request, parts), ...);
    // A list begins after the name that it has.
    const std::uint8_t is_named = operation == kAskList ? 0 : 1;
    fuzz::append_value(bytes_, fuzz::RequestHead{static_cast<std::uint8_t>(operation), is_named,
                                                 static_cast<std::uint16_t>(request.size())});
    append(bytes_, request);
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  template <typename Part>
  static void append(std::vector<std::byte>& to, const Part& part) {
    if constexpr (requires { part.data(); }) {
      const auto bytes = std::as_bytes(std::span(part));
      to.insert(to.end(), bytes.begin(), bytes.end());
    } else {
      fuzz::append_value(to, part);
    }
  }

  std::vector<std::byte> bytes_;
};

struct Rows {
  std::vector<std::uint64_t> vids;
  std::vector<float> vectors;
  layout::Tuples tuples;
  std::vector<std::uint32_t> ends;
};

Rows rows() {
  Rows made;
  for (std::uint32_t i = 0; i < kRows; ++i) {
    made.vids.push_back(i + 1);
    for (std::uint32_t j = 0; j < fuzz::kAskedShape.dimension; ++j) {
      made.vectors.push_back(static_cast<float>((i * 7 + j * 3) % 11));
    }
    const std::vector<layout::Value> values{
        std::int64_t{i}, "word " + std::to_string(i % 3),
        i % 4 == 0 ? layout::Value{} : layout::Value{std::vector<std::string>{"a", "b"}}};
    made.tuples.append(fuzz::asked_schema(), values);
    made.ends.push_back(static_cast<std::uint32_t>(made.tuples.bytes.size()));
  }
  return made;
}

AskRows asked_rows(std::uint32_t count, std::uint32_t row_bytes, std::size_t tuple_bytes) {
  return {kIndex, count, row_bytes, kDeadlineMs, static_cast<std::uint32_t>(tuple_bytes)};
}

void insert(Input& input, AskOperation operation = kAskInsert) {
  const Rows made = rows();
  const auto row_bytes = static_cast<std::uint32_t>(made.vectors.size() / kRows * sizeof(float));
  input.ask(operation, asked_rows(kRows, row_bytes, made.tuples.bytes.size()), made.vids,
            made.vectors, made.ends, made.tuples.bytes);
}

void search(Input& input, const std::string& filter) {
  const std::array<float, 3> query{1, 2, 3};
  input.ask(kAskSearch,
            AskSearch{kIndex, 5, 40, sizeof(query), static_cast<std::uint32_t>(filter.size()),
                      kDeadlineMs, 0},
            query, filter);
}

Input searches() {
  Input input;
  insert(input);
  input.ask(kAskCovers, AskVid{kIndex, kRows + 1, 1, 0});
  search(input, "");
  search(input, "c1 < 7 and c2 = 'word 1' or c3 contains any ('a')");
  return input;
}

Input changes() {
  Input input;
  insert(input, kAskTell);
  const Rows made = rows();
  input.ask(kAskSame, asked_rows(kRows, 0, made.tuples.bytes.size()), made.vids, made.ends,
            made.tuples.bytes);
  input.ask(kAskGet, asked_rows(kRows, 0, 0), made.vids);
  input.ask(kAskErase, asked_rows(kRows, 0, 0), made.vids);
  input.ask(kAskCovers, AskVid{kIndex, kRows + 1, 1, 0});
  input.ask(kAskState, kIndex);
  return input;
}

Input a_build() {
  Input input;
  AskOpen builds = fuzz::kAskedShape;
  builds.begins = kAskBuilds;
  input.ask(kAskOpen, builds);
  insert(input);
  input.ask(kAskRoom, asked_rows(0, 0, 0));
  input.ask(kAskBuild, asked_rows(0, 0, 0));
  return input;
}

Input places() {
  Input input;
  insert(input);
  AskOpen open = fuzz::kAskedShape;
  for (const std::string tier : {"shm", "emulated:rdma", "ssd"}) {
    tier.copy(open.tier, sizeof(open.tier) - 1);
    input.ask(kAskOpen, open);
    input.ask(kAskPlace, kIndex);
  }
  open.begins = kAskBegins;
  open.layout = kAskSlotted;
  open.pool_bytes = 1 << 20;
  input.ask(kAskOpen, open);
  insert(input);
  return input;
}

Input the_rest() {
  Input input;
  input.ask(kAskList, AskList{});
  input.ask(kAskSummary);
  input.ask(kAskDrop, kIndex);
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  return fuzz::write_seeds(argc, argv, [](const std::filesystem::path& folder) {
    const auto write = [&](const char* name, const Input& input) {
      fuzz::write_seed(fuzz::seed_path(folder, "engine_requests_fuzz", name), input.bytes());
    };
    write("searches", searches());
    write("changes", changes());
    write("build", a_build());
    write("places", places());
    write("rest", the_rest());
  });
}
