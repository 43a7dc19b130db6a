#include "dataset/hdf5_file.h"

#include <gmock/gmock.h>

#include "dataset/hdf5_matrix.h"
#include "dataset/vector_set.h"
#include "tests/unit/dataset/test_files.h"

namespace farvec::dataset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A file of the ann-benchmarks kind, built with the library itself.
class AnnFile {
 public:
  explicit AnnFile(const std::string& path)
      : path_(path),
        file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose) {}

  template <typename T>
  AnnFile& add(const char* name, hid_t type, std::vector<hsize_t> dims,
               const std::vector<T>& data) {
    const Hdf5Handle space(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr),
                           H5Sclose);
    const Hdf5Handle set(
        H5Dcreate2(file_.get(), name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        H5Dclose);
    if (!data.empty()) {
      EXPECT_GE(H5Dwrite(set.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()), 0);
    }
    return *this;
  }
  AnnFile& metric(const char* text, bool variable) {
    const Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type.get(), variable ? H5T_VARIABLE : 32);
    const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    const Hdf5Handle attribute(
        H5Acreate2(file_.get(), "distance", type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
        H5Aclose);
    char fixed[32] = {};
    std::snprintf(fixed, sizeof(fixed), "%s", text);
    H5Awrite(attribute.get(), type.get(), variable ? static_cast<const void*>(&text) : fixed);
    return *this;
  }
  std::string done() {
    file_.close();
    return path_;
  }

 private:
  std::string path_;
  Hdf5Handle file_;
};

AnnFile with_truth(const std::string& path) {
  return std::move(AnnFile(path)
                       .add<float>("train", H5T_NATIVE_FLOAT, {2, 2}, {1, 2, 3, 4})
                       .add<double>("test", H5T_NATIVE_DOUBLE, {1, 2}, {5, 6})
                       .add<int>("neighbors", H5T_NATIVE_INT, {1, 2}, {1, 0})
                       .add<float>("distances", H5T_NATIVE_FLOAT, {1, 2}, {2, 3}));
}

TEST(Hdf5File, ReadsTrainByDefaultAndTestByName) {
  const TemporaryFolder folder;
  const auto path = with_truth(folder.file("a.hdf5")).metric("euclidean", true).done();
  EXPECT_EQ(open_vectors(path)->info().metric, "euclidean");
  EXPECT_EQ(load(path).count(), 2u);
  const auto test = load(path + ":test");
  EXPECT_EQ(test.type(), ElementType::f32);
  EXPECT_EQ(load_unaligned<float>(test.view().row(0) + 4), 6.0f);
}

TEST(Hdf5File, SquaresEuclideanDistances) {
  const TemporaryFolder folder;
  const auto path = with_truth(folder.file("a.hdf5")).metric("euclidean", false).done();
  const auto truth = read_groundtruth(path);
  EXPECT_THAT(truth.ids, ElementsAre(1, 0));
  EXPECT_THAT(truth.distances, ElementsAre(4, 9));
}

TEST(Hdf5File, KeepsAngularDistancesAndRefusesOthers) {
  const TemporaryFolder folder;
  const auto angular = with_truth(folder.file("a.hdf5")).metric("angular", true).done();
  EXPECT_THAT(read_groundtruth(angular).distances, ElementsAre(2, 3));
  const auto jaccard = with_truth(folder.file("b.hdf5")).metric("jaccard", true).done();
  EXPECT_THAT(error_of([&] { read_groundtruth(jaccard); }), HasSubstr("'jaccard'"));
}

TEST(Hdf5File, RefusesOtherShapesAndTypes) {
  const TemporaryFolder folder;
  const auto path = AnnFile(folder.file("a.h5"))
                        .add<float>("flat", H5T_NATIVE_FLOAT, {4}, {1, 2, 3, 4})
                        .add<int>("wide", H5T_NATIVE_INT, {1, 1}, {1})
                        .add<float>("none", H5T_NATIVE_FLOAT, {0, 4}, {})
                        .add<float>("large", H5T_NATIVE_FLOAT, {1, 5000}, {})
                        .add<float>("lying", H5T_NATIVE_FLOAT, {1'000'000'000, 1000}, {})
                        .done();
  const auto open_error = [&](const char* name) {
    return error_of([&] { open_vectors(path + name); });
  };
  EXPECT_THAT(open_error(":flat"), HasSubstr("two-dimensional"));
  EXPECT_THAT(open_error(":wide"), HasSubstr("neither f32"));
  EXPECT_THAT(open_error(":none"), HasSubstr("no rows"));
  EXPECT_THAT(open_error(":large"), HasSubstr("dimension 5000"));
  EXPECT_THAT(open_error(":lying"), HasSubstr("are stored"));
  EXPECT_THAT(open_error(""), HasSubstr("no data set 'train'"));
  EXPECT_THAT(error_of([&] { read_groundtruth(path); }), HasSubstr("'neighbors'"));
}

TEST(Hdf5File, RefusesWhatIsNotHdf5) {
  const TemporaryFolder folder;
  const auto path = Bytes().add_text("not HDF5").write(folder.file("a.hdf5"));
  EXPECT_THAT(error_of([&] { open_vectors(path); }), HasSubstr("not a whole HDF5 file"));
  EXPECT_THAT(error_of([&] { open_vectors(folder.file("b.hdf5")); }), HasSubstr("No such file"));
}

TEST(Hdf5File, GetsOneDataSetMoreAndNeverReplacesOne) {
  const TemporaryFolder folder;
  const auto path = with_truth(folder.file("a.hdf5")).done();
  const VectorShape shape{1, 2, ElementType::u8};
  const std::byte row[2] = {};
  const auto writer = create_vectors(path + ":extra", shape);
  writer->append(row, 1);
  writer->finish();
  EXPECT_EQ(open_vectors(path + ":extra")->info().type, ElementType::u8);
  EXPECT_EQ(load(path).count(), 2u);
  EXPECT_THAT(error_of([&] { create_vectors(path + ":train", shape); }), HasSubstr("already has"));
  EXPECT_EQ(folder.entries(), 1u);
}

}  // namespace
}  // namespace farvec::dataset
