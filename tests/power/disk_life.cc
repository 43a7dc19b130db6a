// What disk_test.sh runs in a guest until its power goes: holds a paged HNSW and a collection on
// one disk against what earlier lives were told, and then changes both at once.
//   disk_life FOLDER FORMER_JOURNAL OWN_JOURNAL
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <thread>

#include "base/error.h"
#include "tests/power/collection_life.h"
#include "tests/power/die.h"
#include "tests/power/hnsw_life.h"
#include "tests/power/journal.h"

namespace farvec::power {
namespace {

void live(int argc, char** argv) {
  if (argc != 4) throw Error("disk_life FOLDER FORMER_JOURNAL OWN_JOURNAL");
  const std::string folder = argv[1];
  Journal journal(argv[2], argv[3]);
  HnswLife hnsw(folder + "/hnsw", journal);
  CollectionLife collection(folder + "/collection", journal);
  fmt::print("cut: {}\n", hnsw.check());
  fmt::print("cut: {}\nchecked\n", collection.check());
  std::fflush(stdout);
  std::thread other([&] { or_die([&] { collection.live(); }); });
  hnsw.live();
}

}  // namespace
}  // namespace farvec::power

int main(int argc, char** argv) {
  farvec::power::or_die([&] { farvec::power::live(argc, argv); });
  return 0;
}
