// Writes conditions of every kind.
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "tests/fuzz/seed_files.h"

int main(int argc, char** argv) {
  using namespace farvec;
  return fuzz::write_seeds(argc, argv, [](const std::filesystem::path& folder) {
    int number = 0;
    for (const std::string_view text :
         {"s in ('libs', 'doc') and u < 1000 and l contains any ('role::program')",
          "i between -5 and 1.5e3 or i not in (7, 8, 9) or id in (1, 2)",
          "not (f >= .1 and f != inf) and (b or not b)", "l contains all ('a', 'it''s')",
          "t < '2024-05-01' or t = '1969-12-31T23:59:59.999999+02:00' or t > -1",
          "s prefix 'x' and s not between 'a' and 'b'", "p is null or u is not null",
          "true and not false or id <> 18446744073709551615"}) {
      fuzz::write_seed(fuzz::seed_path(folder, "attributes_condition_fuzz", std::to_string(number)),
                       std::as_bytes(std::span(text)));
      ++number;
    }
  });
}
