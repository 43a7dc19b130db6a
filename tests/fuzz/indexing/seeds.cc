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

/// A column of the fuzzer's schema, by its number, and an .npy file with `elements` for it.
std::string npy_seed(char column, const std::string& type, const std::string& elements) {
  const std::string dictionary =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': (2,), }\n";
  std::string seed(1, column);
  seed.append("\x93NUMPY\x01\x00", 8);
  seed += static_cast<char>(dictionary.size());
  seed += '\0';
  return seed + dictionary + elements;
}

void write_npy(const std::filesystem::path& folder) {
  const std::string target = "indexing_attributes_npy_fuzz";
  const std::string words("\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 16);
  for (const auto& [column, type] : {std::pair(0, "<u8"), {1, "<i8"}, {2, "<f8"}, {4, "<M8[ms]"}}) {
    const std::string seed = npy_seed(static_cast<char>(column), type, words);
    farvec::fuzz::write_seed(
        farvec::fuzz::seed_path(folder, target, "seed" + std::to_string(column)),
        std::as_bytes(std::span(seed)));
  }
  const std::string truths = npy_seed(3, "|b1", std::string("\0\1", 2));
  farvec::fuzz::write_seed(farvec::fuzz::seed_path(folder, target, "seed3"),
                           std::as_bytes(std::span(truths)));
}

void write_attributes(const std::filesystem::path& folder) {
  using farvec::fuzz::seed_path;
  using farvec::fuzz::write_seed;
  write_seed(seed_path(folder, "indexing_attributes_jsonl_fuzz", "seed.jsonl"),
             std::as_bytes(std::span(kJsonl)));
  write_seed(seed_path(folder, "indexing_attributes_csv_fuzz", "seed.csv"),
             std::as_bytes(std::span(kCsv)));
  write_npy(folder);
}

}  // namespace

int main(int argc, char** argv) {
  return farvec::fuzz::write_seeds(argc, argv, write_attributes);
}
