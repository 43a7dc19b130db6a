#include "measure/report/machine.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <string_view>

#include "distance/distance.h"

namespace farvec::measure {
namespace {

std::string processor_model() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

std::string first_word(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

/// Reads "32768K", the kernel's form of cache sizes; returns 0 for anything else.
std::size_t kernel_size(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return 0;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (unit == "K") return number << 10;
  if (unit == "M") return number << 20;
  return unit.empty() ? number : 0;
}

/// Returns the word quoted for a shell, or unchanged where a shell sees no more in it than a word.
std::string shell_word(const std::string& word) {
  const auto plain = [](unsigned char letter) {
    return std::isalnum(letter) != 0 ||
           std::string_view("_-+=:,./%@").find(letter) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string result = "'";
  for (const char letter : word) result += letter == '\'' ? "'\\''" : std::string(1, letter);
  return result + "'";
}

}  // namespace

std::string command_description() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string command;
  for (std::string word; std::getline(file, word, '\0');) {
    if (!command.empty()) command += ' ';
    command += shell_word(word);
  }
  return command;
}

std::size_t third_level_bytes(const std::filesystem::path& caches) {
  std::error_code ignored;
  for (const auto& cache : std::filesystem::directory_iterator(caches, ignored)) {
    if (first_word(cache.path() / "level") == "3") {
      return kernel_size(first_word(cache.path() / "size"));
    }
  }
  return 0;
}

Machine this_machine() {
  char name[256] = "unknown";
  gethostname(name, sizeof(name) - 1);
  return {.name = name,
          .processor = processor_model(),
          .processors = sysconf(_SC_NPROCESSORS_ONLN),
          .instructions = std::string(distance::to_string(distance::active_isa())),
          .l3_bytes = third_level_bytes("/sys/devices/system/cpu/cpu0/cache")};
}

std::string describe(const Machine& machine) {
  const std::string l3 =
      machine.l3_bytes == 0 ? "unknown L3" : "L3 " + describe_bytes(machine.l3_bytes);
  return fmt::format("{} ({}, {} processors, {}, {})", machine.name, machine.processor,
                     machine.processors, machine.instructions, l3);
}

std::string describe_bytes(std::size_t bytes) {
  const auto mib = static_cast<double>(bytes) / (1 << 20);
  return mib < 1024 ? fmt::format("{:.4g} MiB", mib) : fmt::format("{:.4g} GiB", mib / 1024);
}

}  // namespace farvec::measure
