// The engine's program as a process, and one that asks it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "postgres/channel/call.h"
#include "postgres/channel/channel.h"
#include "postgres/channel/requests.h"

namespace farvec::postgres::tests {

/// A program that runs with its standard input open; killed at the end.
class RunningEngine {
 public:
  RunningEngine(const std::filesystem::path& folder, const std::filesystem::path& segment,
                std::vector<std::string> more = {}) {
    log_ = folder.string() + ".log";
    int input[2];
    if (pipe2(input, O_CLOEXEC) != 0) abort();
    std::vector<std::string> words{FARVEC_ENGINE, "--folder",     folder, "--segment",
                                   segment,       "--threads",    "2",    "--slots",
                                   "8",           "--watch-input"};
    words.insert(words.end(), more.begin(), more.end());
    child_ = fork();
    if (child_ == 0) run(words, input[0]);
    close(input[0]);
    input_ = input[1];
  }
  ~RunningEngine() {
    if (child_ > 0) kill_now();
    close_input();
    // A killed program has no exit status that would tell of it.
    EXPECT_EQ(log().find("Sanitizer"), std::string::npos) << log();
  }
  RunningEngine(const RunningEngine&) = delete;
  RunningEngine& operator=(const RunningEngine&) = delete;

  pid_t pid() const { return child_; }
  void kill_now() {
    kill(child_, SIGKILL);
    (void)end();
  }
  void close_input() {
    if (input_ >= 0) close(input_);
    input_ = -1;
  }
  /// Waits for its end, and returns its exit status; a negative number is a signal's.
  int end() {
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  std::string log() const {
    std::ifstream file(log_);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

 private:
  [[noreturn]] void run(const std::vector<std::string>& words, int input) const {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const int log = open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(input, STDIN_FILENO);
    dup2(log, STDERR_FILENO);
    execv(arguments[0], arguments.data());
    _exit(127);
  }

  std::string log_;
  pid_t child_ = -1;
  int input_ = -1;
};

struct Told {
  std::int32_t status = 0;
  std::vector<std::byte> bytes;

  std::string text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
  template <typename T>
  T head() const {
    T value{};
    EXPECT_GE(bytes.size(), sizeof(T)) << text();
    if (bytes.size() >= sizeof(T)) std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
};

struct Row {
  std::uint64_t vid = 0;
  float distance = 0;
};

/// A process that asks, with a slot of its own.
class Asking {
 public:
  /// Waits until the engine serves. `former` is the incarnation of one that was killed, whose file
  /// the next one locks for a moment before it removes it; 0: there was none.
  explicit Asking(const std::filesystem::path& segment, std::uint64_t former = 0) {
    std::array<char, CHANNEL_ERROR_BYTES> why{};
    for (int i = 0; i < 3000 && channel_ == nullptr; ++i) {
      channel_ = channel_open(segment.c_str(), 0, why.data());
      if (channel_ != nullptr &&
          (channel_has_ended(channel_) || channel_incarnation(channel_) == former)) {
        channel_close(channel_);  // that of an engine that was killed
        channel_ = nullptr;
      }
      if (channel_ == nullptr) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    if (channel_ == nullptr) throw std::runtime_error(why.data());
    for (int i = 0; i < 3000 && channel_state(channel_) != kChannelServing; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    slot_ = channel_claim(channel_);
  }
  ~Asking() {
    channel_release(channel_, slot_);
    channel_close(channel_);
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  Channel* channel() const { return channel_; }

  Told ask(std::uint32_t operation, std::span<const std::byte> request) {
    static constexpr CallWait kWait{.deadline_ms = 60'000, .gives_up = nullptr, .context = nullptr};
    Told told;
    told.status = call_prepare(channel_, slot_, &kWait);
    if (told.status != kCallDone) return told;
    if (!request.empty()) {
      std::memcpy(channel_request(channel_, slot_), request.data(), request.size());
    }
    told.bytes.resize(CHANNEL_ANSWER_BYTES);
    std::uint32_t bytes = 0;
    told.status = call_ask(channel_, slot_, operation, static_cast<std::uint32_t>(request.size()),
                           &kWait, told.bytes.data(), &bytes);
    told.bytes.resize(bytes);
    return told;
  }
  /// Asks, and gives up after so long. Returns what the engine has answered when it lets the
  /// request go; nothing where it had not taken it.
  Told give_up_after(std::chrono::microseconds wait, std::uint32_t operation,
                     std::span<const std::byte> request) {
    static constexpr CallWait kWait{.deadline_ms = 60'000, .gives_up = nullptr, .context = nullptr};
    Told told;
    EXPECT_EQ(call_prepare(channel_, slot_, &kWait), kCallDone);
    std::memcpy(channel_request(channel_, slot_), request.data(), request.size());
    const std::uint64_t sequence =
        channel_ask(channel_, slot_, operation, static_cast<std::uint32_t>(request.size()));
    std::this_thread::sleep_for(wait);
    channel_give_up(channel_, slot_, sequence);
    if (channel_wait(channel_, slot_, sequence, 0) != kChannelAnswered &&
        channel_is_ready(channel_, slot_)) {
      return told;
    }
    EXPECT_EQ(call_prepare(channel_, slot_, &kWait), kCallDone);
    ChannelAnswer came;
    told.bytes.resize(CHANNEL_ANSWER_BYTES);
    channel_read_answer(channel_, slot_, &came, told.bytes.data());
    told.bytes.resize(came.bytes);
    told.status = came.status;
    return told;
  }
  template <typename T>
  Told ask_with(std::uint32_t operation, const T& request, std::span<const std::byte> more = {},
                std::span<const std::byte> last = {}) {
    std::vector<std::byte> bytes(sizeof(T) + more.size() + last.size());
    std::memcpy(bytes.data(), &request, sizeof(T));
    if (!more.empty()) std::memcpy(bytes.data() + sizeof(T), more.data(), more.size());
    if (!last.empty())
      std::memcpy(bytes.data() + sizeof(T) + more.size(), last.data(), last.size());
    return ask(operation, bytes);
  }

 private:
  Channel* channel_ = nullptr;
  std::uint32_t slot_ = CHANNEL_NO_SLOT;
};

/// What asks of one index.
class AskedIndexOf {
 public:
  AskedIndexOf(Asking& asking, AskOpen shape) : asking_(asking), shape_(shape) {}

  ToldState open() { return asking_.ask_with(kAskOpen, shape_).head<ToldState>(); }
  ToldState state() { return asking_.ask_with(kAskState, shape_.index).head<ToldState>(); }
  Told insert(std::span<const std::uint64_t> vids, std::span<const std::byte> rows,
              std::uint32_t operation = kAskInsert) {
    const AskRows asked{.index = shape_.index,
                        .count = static_cast<std::uint32_t>(vids.size()),
                        .row_bytes = static_cast<std::uint32_t>(rows.size() / vids.size()),
                        .deadline_ms = 60'000,
                        .tuple_bytes = 0};
    return asking_.ask_with(operation, asked, std::as_bytes(vids), rows);
  }
  /// Many rows that lack.
  Told tell(std::span<const std::uint64_t> vids, std::span<const std::byte> rows) {
    return insert(vids, rows, kAskTell);
  }
  Told lacks(AskLacks asked, std::span<const AskPage> pages) {
    asked.index = shape_.index;
    asked.count = static_cast<std::uint32_t>(pages.size());
    return asking_.ask_with(kAskLacks, asked, std::as_bytes(pages));
  }
  Told erase(std::span<const std::uint64_t> vids) {
    const AskRows asked{shape_.index, static_cast<std::uint32_t>(vids.size()), 0, 0, 0};
    return asking_.ask_with(kAskErase, asked, std::as_bytes(vids));
  }
  /// Of an opening, or of any.
  Told covers(std::uint64_t vid, std::uint32_t opening = 0) {
    return asking_.ask_with(kAskCovers, AskVid{shape_.index, vid, 1, opening});
  }
  Told drop() { return asking_.ask_with(kAskDrop, shape_.index); }
  Told search(std::span<const std::byte> query, std::uint32_t k, std::uint32_t list,
              const std::string& filter = {}) {
    const AskSearch asked{.index = shape_.index,
                          .k = k,
                          .list = list,
                          .query_bytes = static_cast<std::uint32_t>(query.size()),
                          .filter_bytes = static_cast<std::uint32_t>(filter.size()),
                          .deadline_ms = 30'000,
                          .zero = 0};
    return asking_.ask_with(kAskSearch, asked, query, std::as_bytes(std::span(filter)));
  }
  std::vector<Row> rows(std::span<const std::byte> query, std::uint32_t k, std::uint32_t list) {
    const Told told = search(query, k, list);
    EXPECT_EQ(told.status, 0) << told.text();
    return told.status == 0 ? rows_of(told) : std::vector<Row>();
  }
  static std::vector<Row> rows_of(const Told& told) {
    const auto found = told.head<ToldFound>();
    EXPECT_EQ(told.bytes.size(), sizeof(found) + found.count * 12);
    std::vector<Row> rows(found.count);
    const std::byte* const vids = told.bytes.data() + sizeof(found);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::memcpy(&rows[i].vid, vids + 8 * i, 8);
      std::memcpy(&rows[i].distance, vids + 8 * rows.size() + 4 * i, 4);
    }
    return rows;
  }

 private:
  Asking& asking_;
  const AskOpen shape_;
};

}  // namespace farvec::postgres::tests
