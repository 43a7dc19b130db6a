#include "measure/report/measurement.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/output_file.h"
#include "base/quantity.h"

namespace farvec::measure {

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = text.find(',', begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

std::vector<std::uint32_t> split_numbers(const std::string& text, const std::string& option,
                                         std::uint32_t least) {
  std::vector<std::uint32_t> numbers;
  for (const std::string& part : split_words(text)) {
    const std::uint64_t number = parse_number(part, option);
    if (number < least || number > std::numeric_limits<std::uint32_t>::max()) {
      throw Error("{}: {} is out of range: use {} or more", option, number, least);
    }
    numbers.push_back(static_cast<std::uint32_t>(number));
  }
  return numbers;
}

std::vector<std::uint32_t> split_slots(const std::string& text) {
  if (text == "auto") return {0};
  return split_numbers(text, "--slots");
}

std::vector<std::size_t> split_bytes(const std::string& text, const std::string& option) {
  std::vector<std::size_t> sizes;
  for (const std::string& part : split_words(text)) sizes.push_back(parse_bytes(part, option));
  return sizes;
}

std::vector<std::uint32_t> split_payloads(const std::string& text) {
  std::vector<std::uint32_t> payloads;
  for (const std::size_t bytes : split_bytes(text, "--payload")) {
    if (bytes < 1 || bytes > std::numeric_limits<std::uint32_t>::max()) {
      throw Error("--payload: {} is out of range: use 1 or more, below 4 GiB", bytes);
    }
    payloads.push_back(static_cast<std::uint32_t>(bytes));
  }
  return payloads;
}

std::vector<bool> split_switches(const std::string& text, const std::string& option) {
  std::vector<bool> switches;
  for (const std::string& part : split_words(text)) {
    switches.push_back(parse_switch(part, option));
  }
  return switches;
}

std::vector<double> split_shares(const std::string& text, const std::string& option) {
  std::vector<double> shares;
  for (const std::string& part : split_words(text)) shares.push_back(parse_share(part, option));
  return shares;
}

void check_largest(const std::vector<std::uint32_t>& values, std::uint32_t most,
                   const char* option) {
  const std::uint32_t largest = *std::max_element(values.begin(), values.end());
  if (largest > most) throw Error("{}: {} is out of range: use 1 to {}", option, largest, most);
}

void run_passes(std::uint32_t passes, const Interruption& interrupted,
                const std::function<void()>& measure_pass) {
  using Clock = std::chrono::steady_clock;
  const bool terminal = isatty(STDERR_FILENO) == 1;
  const auto start = Clock::now();
  for (std::uint32_t pass = 0; pass < passes && !asked_to_end(interrupted); ++pass) {
    const bool tenth = pass == 0 || pass * 10ull / passes != (pass - 1) * 10ull / passes;
    const double took = std::chrono::duration<double>(Clock::now() - start).count();
    const std::string left =
        pass == 0 ? "" : fmt::format(", about {:.0f} s left", took / pass * (passes - pass));
    if (terminal) fmt::print(stderr, "\r\033[Kpass {} of {}{}", pass + 1, passes, left);
    if (!terminal && tenth) fmt::print(stderr, "pass {} of {}{}\n", pass + 1, passes, left);
    std::fflush(stderr);
    measure_pass();
  }
  if (terminal) fmt::print(stderr, "\r\033[K");
}

JsonLines::JsonLines(std::string path) : path_(std::move(path)) {
  if (!path_.empty()) check_output(path_);
}

void JsonLines::write() const {
  if (path_.empty()) return;
  OutputFile out(path_, lines_.size());
  out.append(lines_.data(), lines_.size());
  out.commit();
}

}  // namespace farvec::measure
