// Binds the functions for vector files, ground truth and recall.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dataset/brute_force.h"
#include "dataset/mapped_vectors.h"
#include "dataset/recall.h"
#include "python/bindings.h"
#include "python/errors.h"
#include "python/jobs.h"
#include "python/neighbors.h"
#include "python/others_may_run.h"
#include "python/source_rows.h"
#include "search/searchers/exact_distance.h"

namespace farvec::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;

/// Gives numbers of 32 bits to ids of any width: equal ids get the same number, and those that
/// stand for none get kInvalidNode.
class SmallIds {
 public:
  std::vector<NodeId> of(const Ids& ids) {
    std::vector<NodeId> small;
    small.reserve(ids.values.size());
    for (const std::uint64_t id : ids.values) {
      small.push_back(id == ids.none ? kInvalidNode : number(id));
    }
    return small;
  }

 private:
  NodeId number(std::uint64_t id) {
    return numbers_.try_emplace(id, static_cast<NodeId>(numbers_.size())).first->second;
  }

  std::unordered_map<std::uint64_t, NodeId> numbers_;
};

nb::tuple from_truth(dataset::GroundTruth truth) {
  const std::size_t queries = truth.queries;
  nb::object distances = nb::none();
  if (truth.has_distances()) {
    distances = to_numpy(std::move(truth.distances), queries, truth.k, false);
  }
  return nb::make_tuple(to_numpy(std::move(truth.ids), queries, truth.k, false), distances);
}

template <typename Owned>
nb::object give_rows(std::unique_ptr<Owned> owned) {
  const VectorView view = owned->view();
  const nb::capsule owner(owned.release(), [](void* p) noexcept { delete static_cast<Owned*>(p); });
  return to_numpy(view, owner);
}

nb::object read_vectors(const std::filesystem::path& path, bool mmap, const std::string& bitorder) {
  const bool reversed = parse_bitorder(bitorder) == dataset::BitOrder::big &&
                        dataset::open_vectors(path.string())->info().type == ElementType::b1;
  if (mmap && !reversed && dataset::MappedVectors::can_map(path.string())) {
    return give_rows(std::make_unique<dataset::MappedVectors>(path.string(),
                                                              dataset::MappedVectors::Values::any));
  }
  std::unique_ptr<dataset::VectorSet> rows;
  {
    const OthersMayRun others_may_run;
    rows = std::make_unique<dataset::VectorSet>(dataset::load(path.string()));
    const VectorView view = rows->view();
    if (reversed) dataset::reverse_bits({rows->mutable_row(0), view.count * view.row_bytes()});
  }
  return give_rows(std::move(rows));
}

void write_vectors(const std::filesystem::path& path, const AnyArray& array,
                   const AskedBits& bits) {
  const Rows rows(array, "vectors", bits.wish());
  const VectorView& view = rows.view();
  const OthersMayRun others_may_run;
  rows.require_sound();
  const auto writer =
      dataset::create_vectors(path.string(), {view.count, view.dimension, view.type});
  writer->append(view.data, view.count);
  writer->finish();
}

struct TruthOptions {
  AskedBits bits;
  std::int64_t k = 100;
  std::string metric;
  dataset::BruteForceOptions scan;
};

nb::tuple ground_truth(const FileOrArray& data, const FileOrArray& queries, TruthOptions options) {
  const Metric metric = parse_metric(options.metric);
  options.scan.k = to_count(options.k, "k");
  const SourceRows base(data, "data", options.bits.wish());
  const SourceRows wanted(queries, "queries", options.bits.wish());
  dataset::GroundTruth truth;
  run_job([&](const Interruption& interrupted) {
    options.scan.interrupted = interrupted;
    const auto rows = base.open();
    require_metric(base.path(), metric, rows->info().type);
    truth = dataset::exact_neighbors(*rows, *wanted.open(),
                                     search::exact_distance(metric, rows->info()), options.scan);
  });
  return from_truth(std::move(truth));
}

double recall(const Neighbors& found, const Neighbors& truth, std::optional<std::int64_t> k) {
  SmallIds small;
  const dataset::GroundTruth results = to_truth(found, small.of(found.ids));
  const std::uint32_t wanted = k ? to_count(*k, "k") : results.k;
  return dataset::recall_at_k(
      {results.ids.data(), results.has_distances() ? results.distances.data() : nullptr,
       results.queries, results.k},
      to_truth(truth, small.of(truth.ids)), wanted);
}

void bind_files(nb::module_& module) {
  module.def("read_vectors", &read_vectors, "path"_a, nb::kw_only(), "mmap"_a = true,
             "bitorder"_a = "big",
             nb::sig("def read_vectors(path: str | os.PathLike, *, mmap: bool = True, bitorder: "
                     "str = 'big') -> numpy.ndarray"),
             R"(Read a vector file.

``.fbin .f16bin .u8bin .i8bin .npy`` stay in their file: the array is a read-only view of it, which
must not change meanwhile. ``.fvecs .bvecs .hdf5 .h5`` (with ``:train`` or another data set) and IDX
are read into memory. So is ``.b1bin``, whose bits come in bytes, as numpy.packbits() makes them;
with ``bitorder="little"`` it stays in its file.

Args:
    path: The file; its suffix says the format.
    mmap: False: read into memory whatever the format, and refuse NaN and infinity.
    bitorder: Of bits, ``big`` or ``little``.

Returns:
    ``(rows, dimension)`` of float32, float16, uint8 or int8; of bits ``(rows, bytes)`` of uint8.

Raises:
    Error: The file is not there, damaged, or of no format that is known.)");
  module.def(
      "write_vectors",
      [](const std::filesystem::path& path, const AnyArray& vectors,
         const std::optional<std::string>& element, std::optional<std::int64_t> dimension,
         const std::string& bitorder) {
        write_vectors(path, vectors, {element, dimension, bitorder});
      },
      "path"_a, "vectors"_a, nb::kw_only(), "type"_a = nb::none(), "dimension"_a = nb::none(),
      "bitorder"_a = "big",
      nb::sig("def write_vectors(path: str | os.PathLike, vectors: numpy.typing.ArrayLike, *, "
              "type: str | None = None, dimension: int | None = None, bitorder: str = 'big') -> "
              "None"),
      R"(Write rows to a vector file, which appears under its name when it is whole.

Args:
    path: ``.fbin .f16bin .u8bin .i8bin .b1bin .fvecs .bvecs .npy .hdf5``, of the rows' element type.
    vectors: ``(rows, dimension)``, finite.
    type, dimension, bitorder: Of bits, as :func:`build_graph` has them.

Raises:
    InvalidArgument: A shape, type or value that cannot be.
    Error: The format does not hold the type, or the file cannot be written.)");
  module.def(
      "read_ground_truth",
      [](const std::filesystem::path& path) {
        return from_truth(dataset::read_groundtruth(path.string()));
      },
      "path"_a,
      nb::sig("def read_ground_truth(path: str | os.PathLike) -> "
              "tuple[numpy.ndarray, numpy.ndarray | None]"),
      "Ids ``(queries, k)`` uint32 and their distances float32 (None where the file has none) of "
      ".ibin, .gt100, .ivecs, or ``:neighbors`` of ann-benchmarks' HDF5.");
  module.def(
      "write_ground_truth",
      [](const std::filesystem::path& path, const AnyArray& ids,
         const std::optional<AnyArray>& distances) {
        const Neighbors neighbors(ids, "ids", distances, "distances");
        dataset::write_groundtruth(path.string(), to_truth(neighbors, file_ids(neighbors)));
      },
      "path"_a, "ids"_a, "distances"_a = nb::none(),
      nb::sig("def write_ground_truth(path: str | os.PathLike, ids: numpy.typing.ArrayLike, "
              "distances: numpy.typing.ArrayLike | None = None) -> None"),
      "Write ids ``(queries, k)``, integers of at most 32 bits, and, to .ibin, their distances.");
}

void bind_truth(nb::module_& module) {
  module.def(
      "ground_truth",
      [](const FileOrArray& data, const FileOrArray& queries, std::int64_t k, std::string metric,
         unsigned threads, bool progress, const std::optional<std::string>& element,
         std::optional<std::int64_t> dimension, const std::string& bitorder) {
        return ground_truth(data, queries,
                            {{element, dimension, bitorder},
                             k,
                             std::move(metric),
                             {.threads = threads, .quiet = !progress}});
      },
      "data"_a, "queries"_a, "k"_a = 100, nb::kw_only(), "metric"_a = "l2", "threads"_a = 0,
      "progress"_a = false, "type"_a = nb::none(), "dimension"_a = nb::none(), "bitorder"_a = "big",
      nb::sig("def ground_truth(data: numpy.typing.ArrayLike | str | os.PathLike, queries: "
              "numpy.typing.ArrayLike | str | os.PathLike, k: int = 100, *, metric: str = 'l2', "
              "threads: int = 0, progress: bool = False, type: str | None = None, dimension: "
              "int | None = None, bitorder: str = 'big') -> "
              "tuple[numpy.ndarray, numpy.ndarray]"),
      R"(Find the exact neighbours of every query by comparing it with every row.

Args:
    data: ``(rows, dimension)`` or a vector file, which may be larger than memory.
    queries: ``(queries, dimension)`` of the same type, or a vector file.
    k: Neighbours of each, 1 to the number of rows.
    metric: ``l2`` (squared), ``ip`` (negated) or ``cosine`` (1 - cos); of bits ``hamming`` or
        ``jaccard``.
    threads: 0: one per processor.
    progress: Say on stderr how far it is.
    type, dimension, bitorder: Of bits, as :func:`build_graph` has them.

Returns:
    ids ``(queries, k)`` uint32 and distances float32, nearest first, equal ones by the smaller id.

Raises:
    InvalidArgument, Error: What cannot be compared. KeyboardInterrupt: Ctrl-C has ended it.)");
  module.def(
      "recall",
      [](const AnyArray& ids, const AnyArray& true_ids, std::optional<std::int64_t> k,
         const std::optional<AnyArray>& distances, const std::optional<AnyArray>& true_distances) {
        return recall({ids, "ids", distances, "distances"},
                      {true_ids, "true_ids", true_distances, "true_distances"}, k);
      },
      "ids"_a, "true_ids"_a, "k"_a = nb::none(), nb::kw_only(), "distances"_a = nb::none(),
      "true_distances"_a = nb::none(),
      nb::sig("def recall(ids: numpy.typing.ArrayLike, true_ids: numpy.typing.ArrayLike, k: int | "
              "None = None, *, distances: numpy.typing.ArrayLike | None = None, true_distances: "
              "numpy.typing.ArrayLike | None = None) -> float"),
      R"(The mean share of the true neighbours that were found.

Args:
    ids: ``(queries, >= k)`` that were found: integers of any width, compared as they are. The
        largest number of their type stands for none.
    true_ids: ``(queries, >= k)``, row for row.
    k: How many count; None: all of ``ids``.
    distances, true_distances: Of both: then a result that is no farther than the k-th true one
        counts too, as ``farvec search --groundtruth`` counts it.

Raises:
    Error: There are fewer queries or neighbours than that takes.)");
}

}  // namespace

void bind_dataset(nb::module_& module) {
  bind_files(module);
  bind_truth(module);
}

}  // namespace farvec::python
