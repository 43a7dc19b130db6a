#include "tests/power/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "base/error.h"

namespace farvec::power {
namespace {

/// Divides a page of the host's cache, so that no line is written by halves.
constexpr std::size_t kLineBytes = 32;

}  // namespace

Journal::Journal(const std::string& former, const std::string& own) {
  std::ifstream lines(former);
  char index = 0;
  unsigned writer = 0;
  std::uint64_t number = 0;
  for (std::string what; lines >> index >> writer >> number >> what;) {
    History& history = histories_[{index, writer}];
    history.next = number + 1;
    history.open.reset();
    if (what == "begin") history.open = number;
    if (what == "done") history.done.push_back(number);
  }
  if (!lines.eof()) throw Error("'{}' is no journal", former);
  file_ = open(own.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) throw SystemError(errno, "opening '{}' for writing", own);
}

Journal::~Journal() {
  close(file_);
}

History Journal::history(char index, unsigned writer) const {
  const auto known = histories_.find({index, writer});
  return known == histories_.end() ? History{} : known->second;
}

void Journal::begin(char index, unsigned writer, std::uint64_t number) {
  write(index, writer, number, "begin");
}

void Journal::done(char index, unsigned writer, std::uint64_t number) {
  write(index, writer, number, "done");
}

void Journal::lost(char index, unsigned writer, std::uint64_t number) {
  write(index, writer, number, "lost");
}

void Journal::write(char index, unsigned writer, std::uint64_t number, const char* what) {
  const std::string line = fmt::format("{} {:3} {:16} {:<8}\n", index, writer, number, what);
  const std::lock_guard lock(mutex_);
  if (line.size() != kLineBytes || ::write(file_, line.data(), kLineBytes) != kLineBytes) {
    throw SystemError(errno, "writing the journal");
  }
}

}  // namespace farvec::power
