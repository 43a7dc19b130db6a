// Vector files, ground truth and recall.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <string>
#include <utility>

#include "dataset/brute_force.h"
#include "dataset/mapped_vectors.h"
#include "dataset/recall.h"
#include "python/bindings.h"
#include "python/errors.h"
#include "python/jobs.h"
#include "python/others_may_run.h"
#include "python/source_rows.h"
#include "search/exact_distance.h"

namespace farvec::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;

template <typename T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu, nb::c_contig>;

/// Ids, and their distances where they are known.
struct Neighbors {
  Matrix<NodeId> ids;
  std::optional<Matrix<float>> distances;
};

dataset::GroundTruth to_truth(const Neighbors& neighbors, std::string_view name) {
  const Matrix<NodeId>& ids = neighbors.ids;
  dataset::GroundTruth truth{ids.shape(0),
                             to_count(static_cast<std::int64_t>(ids.shape(1)), name),
                             {ids.data(), ids.data() + ids.size()},
                             {}};
  if (!neighbors.distances) return truth;
  const Matrix<float>& distances = *neighbors.distances;
  if (distances.shape(0) != ids.shape(0) || distances.shape(1) != ids.shape(1)) {
    throw_invalid("{}: {} x {} ids, but {} x {} distances", name, ids.shape(0), ids.shape(1),
                  distances.shape(0), distances.shape(1));
  }
  truth.distances.assign(distances.data(), distances.data() + distances.size());
  return truth;
}

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

nb::object read_vectors(const std::filesystem::path& path, bool mmap) {
  if (mmap && dataset::MappedVectors::can_map(path.string())) {
    return give_rows(std::make_unique<dataset::MappedVectors>(path.string(),
                                                              dataset::MappedVectors::Values::any));
  }
  std::unique_ptr<dataset::VectorSet> rows;
  {
    const OthersMayRun others_may_run;
    rows = std::make_unique<dataset::VectorSet>(dataset::load(path.string()));
  }
  return give_rows(std::move(rows));
}

void write_vectors(const std::filesystem::path& path, AnyArray array) {
  const Rows rows(std::move(array), "vectors");
  const VectorView& view = rows.view();
  const OthersMayRun others_may_run;
  rows.require_finite();
  const auto writer =
      dataset::create_vectors(path.string(), {view.count, view.dimension, view.type});
  writer->append(view.data, view.count);
  writer->finish();
}

struct TruthOptions {
  std::int64_t k = 100;
  std::string metric;
  dataset::BruteForceOptions scan;
};

nb::tuple ground_truth(FileOrArray data, FileOrArray queries, TruthOptions options) {
  const Metric metric = parse_metric(options.metric);
  options.scan.k = to_count(options.k, "k");
  const SourceRows base(std::move(data), "data");
  const SourceRows wanted(std::move(queries), "queries");
  dataset::GroundTruth truth;
  run_job([&](const Interruption& interrupted) {
    options.scan.interrupted = interrupted;
    const auto rows = base.open();
    truth = dataset::exact_neighbors(*rows, *wanted.open(),
                                     search::exact_distance(metric, rows->info()), options.scan);
  });
  return from_truth(std::move(truth));
}

double recall(const Neighbors& found, const Neighbors& truth, std::optional<std::int64_t> k) {
  const dataset::GroundTruth results = to_truth(found, "ids");
  const std::uint32_t wanted = k ? to_count(*k, "k") : results.k;
  return dataset::recall_at_k(
      {results.ids.data(), results.has_distances() ? results.distances.data() : nullptr,
       results.queries, results.k},
      to_truth(truth, "true_ids"), wanted);
}

void bind_files(nb::module_& module) {
  module.def("read_vectors", &read_vectors, "path"_a, nb::kw_only(), "mmap"_a = true,
             nb::sig("def read_vectors(path: str | os.PathLike, *, mmap: bool = True) -> "
                     "numpy.ndarray"),
             R"(Read a vector file.

``.fbin .f16bin .u8bin .i8bin .npy`` stay in their file: the array is a read-only view of it, which
must not change meanwhile. ``.fvecs .bvecs .hdf5 .h5`` (with ``:train`` or another data set) and IDX
are read into memory.

Args:
    path: The file; its suffix says the format.
    mmap: False: read into memory whatever the format, and refuse NaN and infinity.

Returns:
    ``(rows, dimension)`` of float32, float16, uint8 or int8.

Raises:
    Error: The file is not there, damaged, or of no format that is known.)");
  module.def("write_vectors", &write_vectors, "path"_a, "vectors"_a,
             nb::sig("def write_vectors(path: str | os.PathLike, vectors: "
                     "numpy.typing.ArrayLike) -> None"),
             R"(Write rows to a vector file, which appears under its name when it is whole.

Args:
    path: ``.fbin .f16bin .u8bin .i8bin .fvecs .bvecs .npy .hdf5``, of the rows' element type.
    vectors: ``(rows, dimension)``, finite.

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
      [](const std::filesystem::path& path, Matrix<NodeId> ids,
         std::optional<Matrix<float>> distances) {
        dataset::write_groundtruth(path.string(),
                                   to_truth({std::move(ids), std::move(distances)}, "ids"));
      },
      "path"_a, "ids"_a, "distances"_a = nb::none(),
      nb::sig("def write_ground_truth(path: str | os.PathLike, ids: numpy.typing.ArrayLike, "
              "distances: numpy.typing.ArrayLike | None = None) -> None"),
      "Write ids ``(queries, k)`` and, to .ibin, their distances.");
}

void bind_truth(nb::module_& module) {
  module.def(
      "ground_truth",
      [](FileOrArray data, FileOrArray queries, std::int64_t k, std::string metric,
         unsigned threads, bool progress) {
        return ground_truth(std::move(data), std::move(queries),
                            {k, std::move(metric), {.threads = threads, .quiet = !progress}});
      },
      "data"_a, "queries"_a, "k"_a = 100, nb::kw_only(), "metric"_a = "l2", "threads"_a = 0,
      "progress"_a = false,
      nb::sig("def ground_truth(data: numpy.typing.ArrayLike | str | os.PathLike, queries: "
              "numpy.typing.ArrayLike | str | os.PathLike, k: int = 100, *, metric: str = 'l2', "
              "threads: int = 0, progress: bool = False) -> "
              "tuple[numpy.ndarray, numpy.ndarray]"),
      R"(Find the exact neighbours of every query by comparing it with every row.

Args:
    data: ``(rows, dimension)`` or a vector file, which may be larger than memory.
    queries: ``(queries, dimension)`` of the same type, or a vector file.
    k: Neighbours of each, 1 to the number of rows.
    metric: ``l2`` (squared), ``ip`` (negated) or ``cosine`` (1 - cos).
    threads: 0: one per processor.
    progress: Say on stderr how far it is.

Returns:
    ids ``(queries, k)`` uint32 and distances float32, nearest first, equal ones by the smaller id.

Raises:
    InvalidArgument, Error: What cannot be compared. KeyboardInterrupt: Ctrl-C has ended it.)");
  module.def(
      "recall",
      [](Matrix<NodeId> ids, Matrix<NodeId> true_ids, std::optional<std::int64_t> k,
         std::optional<Matrix<float>> distances, std::optional<Matrix<float>> true_distances) {
        return recall({std::move(ids), std::move(distances)},
                      {std::move(true_ids), std::move(true_distances)}, k);
      },
      "ids"_a, "true_ids"_a, "k"_a = nb::none(), nb::kw_only(), "distances"_a = nb::none(),
      "true_distances"_a = nb::none(),
      nb::sig("def recall(ids: numpy.typing.ArrayLike, true_ids: numpy.typing.ArrayLike, k: int | "
              "None = None, *, distances: numpy.typing.ArrayLike | None = None, true_distances: "
              "numpy.typing.ArrayLike | None = None) -> float"),
      R"(The mean share of the true neighbours that were found.

Args:
    ids: ``(queries, >= k)`` that were found.
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
