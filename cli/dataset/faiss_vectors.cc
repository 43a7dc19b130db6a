#include "cli/dataset/faiss_vectors.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "measure/program.h"

namespace farvec::cli {
namespace {

constexpr double kMostHours = 24;

// Only faiss knows its formats; the file that this writes is in numpy's format.
constexpr const char* kScript = R"py(
import sys
try:
    import numpy, faiss
except ModuleNotFoundError as error:
    sys.exit(f"{sys.executable} has no {error.name}: pip install faiss-cpu, and FARVEC_PYTHON names "
             "the interpreter that has it")

KINDS = (faiss.IndexFlat, faiss.IndexScalarQuantizer, faiss.IndexHNSWFlat, faiss.IndexHNSWSQ,
         faiss.IndexIVFFlat, faiss.IndexIVFScalarQuantizer)
ROWS = 10000
try:
    index = faiss.read_index(sys.argv[1])
except RuntimeError as error:
    sys.exit(f"faiss cannot read it: {str(error).strip().splitlines()[-1]}")
name = type(index).__name__
if isinstance(index, (faiss.IndexIDMap, faiss.IndexIDMap2)):
    sys.exit(f"{name}: its ids are not row numbers; write the index inside of it (.index)")
if not isinstance(index, KINDS):
    sys.exit(f"{name}: its vectors are not in it (of flat, SQ, HNSW-flat and IVF-flat indexes they "
             "are)")
if index.ntotal == 0:
    sys.exit("it has no vectors")
try:
    if isinstance(index, faiss.IndexIVF):
        index.make_direct_map()
    rows = numpy.lib.format.open_memmap(sys.argv[2], "w+", "<f4", (index.ntotal, index.d))
    for begin in range(0, index.ntotal, ROWS):
        count = min(ROWS, index.ntotal - begin)
        rows[begin:begin + count] = index.reconstruct_n(begin, count)
    rows.flush()
except RuntimeError as error:
    sys.exit(f"{name}: {str(error).strip().splitlines()[-1]}")
except OSError as error:
    sys.exit(f"{sys.argv[2]}: {error.strerror}")
)py";

std::string interpreter() {
  const char* const wanted = std::getenv("FARVEC_PYTHON");
  return wanted != nullptr && *wanted != '\0' ? wanted : "python3";
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::size_t start = text.rfind('\n');
  return start == std::string::npos ? text : text.substr(start + 1);
}

}  // namespace

FaissVectors::FaissVectors(const std::string& index, const std::string& beside)
    : path_(fmt::format("{}.{}.from-faiss.npy", beside, getpid())) {
  if (!std::filesystem::exists(index)) throw Error("{}: it is not there", index);
  const std::vector<std::string> command{interpreter(), "-c", kScript, index, path_};
  const measure::ProgramResult result = measure::run_program(command, kMostHours * 3600e3);
  if (result.status == 0) return;
  std::error_code gone_already;
  std::filesystem::remove(path_, gone_already);
  throw Error("{}: {}", index, last_line(result.output));
}

FaissVectors::~FaissVectors() {
  std::error_code gone_already;
  std::filesystem::remove(path_, gone_already);
}

}  // namespace farvec::cli
