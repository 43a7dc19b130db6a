// Times searches of an engine through its channel, beside the same searches on its cores:
//
//   engine_searches SEGMENT ROWS DIMENSION LIST SEARCHES
//
// It fills an index of random rows, and prints the median and the 99th percentile of what a process
// waits for an answer, of what the engine's core takes for the search, and of the difference.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "postgres/channel/call.h"
#include "postgres/channel/requests.h"

namespace {

constexpr CallWait kWait{.deadline_ms = 600'000, .gives_up = nullptr, .context = nullptr};
constexpr AskedIndex kIndex{.number = 1, .tablespace = 1, .database = 1, .file = 1, .zero = 0};
constexpr std::uint32_t kRows = 10;

class Asker {
 public:
  explicit Asker(const char* segment) {
    std::array<char, CHANNEL_ERROR_BYTES> why{};
    channel_ = channel_open(segment, 0, why.data());
    if (channel_ == nullptr) throw std::runtime_error(why.data());
    slot_ = channel_claim(channel_);
    answer_.resize(CHANNEL_ANSWER_BYTES);
  }

  /// Returns the answer's bytes.
  const std::vector<char>& ask(std::uint32_t operation, const std::vector<char>& request) {
    std::uint32_t bytes = 0;
    std::int32_t status = call_prepare(channel_, slot_, &kWait);
    if (status == kCallDone) {
      std::memcpy(channel_request(channel_, slot_), request.data(), request.size());
      status = call_ask(channel_, slot_, operation, static_cast<std::uint32_t>(request.size()),
                        &kWait, answer_.data(), &bytes);
    }
    if (status != kCallDone) throw std::runtime_error(std::string(answer_.data(), bytes));
    return answer_;
  }

 private:
  Channel* channel_ = nullptr;
  std::uint32_t slot_ = 0;
  std::vector<char> answer_;
};

template <typename T>
void append(std::vector<char>& to, const T* values, std::size_t count) {
  const auto* bytes = reinterpret_cast<const char*>(values);
  to.insert(to.end(), bytes, bytes + count * sizeof(T));
}

std::vector<float> random_rows(std::size_t count, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> rows(count);
  for (float& value : rows) value = normal(random);
  return rows;
}

void fill(Asker& asker, std::uint64_t rows, std::uint32_t dimension, std::mt19937& random) {
  std::vector<char> request;
  const AskOpen open{.index = kIndex,
                     .type = 0,
                     .metric = 0,
                     .dimension = dimension,
                     .degree = 32,
                     .build_list = 100,
                     .begins = kAskBegins,
                     .columns = {},
                     .pool_bytes = 0,
                     .layout = 0,
                     .code_bits = 0,
                     .tier = {}};
  append(request, &open, 1);
  asker.ask(kAskOpen, request);
  const std::uint64_t batch = 64 * 1024 / (4 * dimension + 8);
  for (std::uint64_t first = 1; first <= rows; first += batch) {
    const std::uint64_t count = std::min(batch, rows + 1 - first);
    const AskRows head{kIndex, static_cast<std::uint32_t>(count), 4 * dimension, 600'000, 0};
    request.clear();
    append(request, &head, 1);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t vid = first + i;
      append(request, &vid, 1);
    }
    append(request, random_rows(count * dimension, random).data(), count * dimension);
    asker.ask(kAskInsert, request);
  }
  const AskVid covers{kIndex, rows + 1, 1, 0};
  request.clear();
  append(request, &covers, 1);
  asker.ask(kAskCovers, request);
}

void print(const char* what, std::vector<double> us) {
  std::sort(us.begin(), us.end());
  fmt::print("{:<30} median {:8.1f} us, p99 {:8.1f} us\n", what, us[us.size() / 2],
             us[us.size() * 99 / 100]);
}

void measure(Asker& asker, std::uint32_t dimension, std::uint32_t list, std::size_t searches,
             std::mt19937& random) {
  std::vector<double> waited;
  std::vector<double> searched;
  std::vector<double> added;
  for (std::size_t i = 0; i < searches; ++i) {
    std::vector<char> request;
    const AskSearch head{kIndex, kRows, list, 4 * dimension, 0, 10'000, 0};
    append(request, &head, 1);
    append(request, random_rows(dimension, random).data(), dimension);
    const auto began = std::chrono::steady_clock::now();
    const std::vector<char>& answer = asker.ask(kAskSearch, request);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - began;
    ToldFound found;
    std::memcpy(&found, answer.data(), sizeof found);
    waited.push_back(took.count());
    searched.push_back(static_cast<double>(found.took_ns) / 1e3);
    added.push_back(waited.back() - searched.back());
  }
  print("through the channel", waited);
  print("on the core", searched);
  print("added by the channel", added);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    fmt::print(stderr, "usage: engine_searches SEGMENT ROWS DIMENSION LIST SEARCHES\n");
    return 2;
  }
  try {
    std::mt19937 random(1);
    Asker asker(argv[1]);
    const auto dimension = static_cast<std::uint32_t>(std::stoul(argv[3]));
    fill(asker, std::stoull(argv[2]), dimension, random);
    measure(asker, dimension, static_cast<std::uint32_t>(std::stoul(argv[4])), std::stoul(argv[5]),
            random);
  } catch (const std::exception& error) {
    fmt::print(stderr, "engine_searches: {}\n", error.what());
    return 1;
  }
}
