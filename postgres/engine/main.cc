// farvec-postgres-engine.
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/command_line.h"
#include "base/log.h"
#include "base/quantity.h"
#include "base/said_by.h"
#include "postgres/channel/channel.h"
#include "postgres/engine/engine.h"
#include <algorithm>
#include <csignal>
#include <exception>
#include <string>
#include <thread>

namespace {

using farvec::postgres::EngineOptions;

constexpr const char* kName = "farvec-postgres-engine";
constexpr int kFailed = 1;
constexpr int kHouseMs = 50;

volatile std::sig_atomic_t told_to_stop = 0;

void stop(int) {
  told_to_stop = 1;
}

void handle_signals() {
  struct sigaction action {};
  action.sa_handler = stop;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
}

struct Arguments {
  EngineOptions engine;
  std::string folder;
  std::string tablespaces;
  std::string memory = "1GiB";
  bool watches_input = false;
};

std::optional<int> read_arguments(int argc, char** argv, Arguments& given) {
  farvec::CommandLine app("Owns the vector indexes of a PostgreSQL server, which starts it", kName);
  given.engine.threads = std::max(1u, std::thread::hardware_concurrency());
  app.add_option("--folder", given.folder, "Folder of the indexes, made where it is not there")
      .required();
  app.add_option("--tablespaces", given.tablespaces,
                 "Folder that has the server's tablespaces: indexes of one lie there");
  app.add_option("--within", given.engine.folders.within,
                 "Name of the folder with indexes in a tablespace")
      .show_default();
  app.add_option("--segment", given.engine.segment,
                 "File through which processes of the server ask, which is made")
      .required();
  app.add_option("--memory", given.memory,
                 "Most that open indexes may take: their records, ids and fresh rows")
      .size()
      .show_default();
  app.add_option("--threads", given.engine.threads, "Threads that search")
      .range(1u, 1024u)
      .show_default();
  app.add_option("--slots", given.engine.slots, "Processes that may ask at the same time")
      .range(1u, static_cast<unsigned>(CHANNEL_MOST_SLOTS))
      .show_default();
  app.add_flag("--watch-input", given.watches_input,
               "End when the standard input is closed, as it is when the server has ended");
  const std::optional<int> ended = app.parse(argc, argv);
  given.engine.folders.own = given.folder;
  given.engine.folders.links = given.tablespaces;
  given.engine.memory = farvec::parse_bytes(given.memory, "--memory");
  return ended;
}

/// Waits for a moment; true when the standard input was closed.
bool input_closed(bool watches) {
  pollfd input{.fd = watches ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0};
  if (poll(&input, 1, kHouseMs) <= 0) return false;
  char ignored[64];
  return read(STDIN_FILENO, ignored, sizeof ignored) <= 0;
}

int serve(const Arguments& given) {
  farvec::postgres::Engine engine(given.engine);
  spdlog::info("serving '{}' with {} threads and {} of memory", given.folder, given.engine.threads,
               given.memory);
  while (told_to_stop == 0 && !input_closed(given.watches_input)) {
    engine.keep_house();
    if (engine.broken()) return kFailed;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Arguments given;
    if (const std::optional<int> ended = read_arguments(argc, argv, given)) return *ended;
    umask(S_IRWXG | S_IRWXO);
    handle_signals();
    farvec::set_up_logging(kName);
    return serve(given);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}: error: {}\n", kName, farvec::said_by(e));
    return kFailed;
  }
}
