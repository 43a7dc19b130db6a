// Writes files of attributes with a value of every type: FOLDER/<target>/seed<suffix>.
#include <span>
#include <string>

#include "tests/fuzz/seed_files.h"

namespace {

constexpr std::string_view kJsonl =
    "{\"u\": 18446744073709551615, \"i\": -3, \"f\": 0.5, \"b\": true, \"s\": \"a\\u00e9\"}\n"
    "{\"t\": \"2024-05-01T12:00:00.5+02:00\", \"l\": [\"x\", \"role::program\"], \"p\": "
    "\"bytes\"}\n"
    "{\"p\": {\"base64\": \"gA==\"}, \"f\": \"-Infinity\", \"s\": null}\n{}\n";
constexpr std::string_view kCsv =
    "u,i,f,b,t,s,l,p\r\n18446744073709551615,-3,5e-1,TRUE,2024-05-01,\"a \"\"b\"\", c\",x|y,z\r\n"
    ",,,,,\"\",\"\",\"\n\"\r\n,,,,,,,\r\n";

void write_attributes(const std::filesystem::path& folder) {
  using farvec::fuzz::seed_path;
  using farvec::fuzz::write_seed;
  write_seed(seed_path(folder, "indexing_attributes_jsonl_fuzz", "seed.jsonl"),
             std::as_bytes(std::span(kJsonl)));
  write_seed(seed_path(folder, "indexing_attributes_csv_fuzz", "seed.csv"),
             std::as_bytes(std::span(kCsv)));
}

}  // namespace

int main(int argc, char** argv) {
  return farvec::fuzz::write_seeds(argc, argv, write_attributes);
}
