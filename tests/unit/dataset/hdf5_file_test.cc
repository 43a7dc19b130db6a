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
  /// An attribute that is an array of `count` such texts.
  AnnFile& metrics(const std::string& text, bool variable, hsize_t count) {
    const Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type.get(), variable ? H5T_VARIABLE : text.size());
    const Hdf5Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    const Hdf5Handle attribute(
        H5Acreate2(file_.get(), "distance", type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
        H5Aclose);
    const std::vector<const char*> pointers(count, text.c_str());
    std::string fixed;
    for (hsize_t i = 0; i < count; ++i) fixed += text;
    if (count == 0) return *this;
    EXPECT_GE(H5Awrite(attribute.get(), type.get(),
                       variable ? static_cast<const void*>(pointers.data()) : fixed.data()),
              0);
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

/// As h5py writes an array of bool.
Hdf5Handle bool_type() {
  Hdf5Handle type(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose);
  for (std::int8_t value = 0; value < 2; ++value) {
    H5Tenum_insert(type.get(), value == 0 ? "FALSE" : "TRUE", &value);
  }
  return type;
}

TEST(Hdf5File, ReadsBoolsAsBits) {
  const TemporaryFolder folder;
  const Hdf5Handle type = bool_type();
  const std::vector<std::int8_t> train{1, 0, 0, 1, 0, 0, 0, 0, 1,  //
                                       0, 1, 1, 0, 0, 0, 0, 1, 0};
  const auto path = AnnFile(folder.file("a.hdf5"))
                        .add<std::int8_t>("train", type.get(), {2, 9}, train)
                        .add<int>("neighbors", H5T_NATIVE_INT, {1, 2}, {1, 0})
                        .add<float>("distances", H5T_NATIVE_FLOAT, {1, 2}, {0, 7.0f / 9})
                        .metric("hamming", true)
                        .done();
  const auto set = load(path);
  EXPECT_EQ(set.type(), ElementType::b1);
  EXPECT_EQ(set.dimension(), 9u);
  const std::vector<unsigned> bytes{0b1001, 1, 0b10000110, 0};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(std::to_integer<unsigned>(set.view().data[i]), bytes[i]) << i;
  }
  EXPECT_THAT(read_groundtruth(path).distances, ElementsAre(0, 7)) << "they were shares";
}

TEST(Hdf5File, KeepsNumbersOfBitsThatDiffer) {
  const TemporaryFolder folder;
  const auto path = with_truth(folder.file("a.hdf5")).metric("hamming", true).done();
  EXPECT_THAT(read_groundtruth(path).distances, ElementsAre(2, 3));
  const auto jaccard = with_truth(folder.file("b.hdf5")).metric("jaccard", true).done();
  EXPECT_THAT(read_groundtruth(jaccard).distances, ElementsAre(2, 3));
}

TEST(Hdf5File, SquaresEuclideanDistances) {
  const TemporaryFolder folder;
  const auto path = with_truth(folder.file("a.hdf5")).metric("euclidean", false).done();
  const auto truth = read_groundtruth(path);
  EXPECT_THAT(truth.ids, ElementsAre(1, 0));
  EXPECT_THAT(truth.distances, ElementsAre(4, 9));
}

TEST(Hdf5File, SaysThatItRoundsDoubles) {
  const TemporaryFolder folder;
  const auto path = with_truth(folder.file("a.hdf5")).done();
  EXPECT_FALSE(open_vectors(path)->info().rounded);
  EXPECT_FALSE(load(path).rounded());
  EXPECT_TRUE(open_vectors(path + ":test")->info().rounded);
  EXPECT_TRUE(load(path + ":test").rounded());
}

TEST(Hdf5File, RefusesNeighboursThatHaveMoreThan32Bits) {
  const TemporaryFolder folder;
  for (const std::int64_t id : {std::int64_t{-1}, std::int64_t{1} << 32, std::int64_t{1} << 40}) {
    const auto path = AnnFile(folder.file("a.hdf5"))
                          .add<float>("train", H5T_NATIVE_FLOAT, {2, 2}, {1, 2, 3, 4})
                          .add<std::int64_t>("neighbors", H5T_NATIVE_INT64, {2, 2}, {1, 0, 1, id})
                          .done();
    EXPECT_THAT(message_of([&] { read_groundtruth(path); }),
                HasSubstr("query 1 has the neighbour " + std::to_string(id)));
  }
  const auto path = AnnFile(folder.file("b.hdf5"))
                        .add<std::uint64_t>("neighbors", H5T_NATIVE_UINT64, {1, 2}, {4294967294, 0})
                        .done();
  EXPECT_THAT(read_groundtruth(path).ids, ElementsAre(4294967294, 0));
}

TEST(Hdf5File, KeepsAngularDistancesAndRefusesOthers) {
  const TemporaryFolder folder;
  const auto angular = with_truth(folder.file("a.hdf5")).metric("angular", true).done();
  EXPECT_THAT(read_groundtruth(angular).distances, ElementsAre(2, 3));
  const auto manhattan = with_truth(folder.file("b.hdf5")).metric("manhattan", true).done();
  EXPECT_THAT(message_of([&] { read_groundtruth(manhattan); }), HasSubstr("'manhattan'"));
}

TEST(Hdf5File, AnArrayOfMetricsIsNone) {
  for (const bool variable : {true, false}) {
    for (const hsize_t count : {0, 1, 2, 200}) {
      const TemporaryFolder folder;
      const auto path =
          with_truth(folder.file("a.hdf5")).metrics("angular", variable, count).done();
      EXPECT_EQ(open_vectors(path)->info().metric, count == 1 ? "angular" : "") << count;
      if (count == 1) continue;
      EXPECT_THAT(message_of([&] { read_groundtruth(path); }), HasSubstr("of the kind ''"));
    }
  }
}

TEST(Hdf5File, AMetricHasABound) {
  for (const bool variable : {true, false}) {
    for (const std::size_t length : {1, 256, 257, 50'000}) {
      const TemporaryFolder folder;
      const std::string text(length, 'x');
      const auto path = with_truth(folder.file("a.hdf5")).metrics(text, variable, 1).done();
      EXPECT_EQ(open_vectors(path)->info().metric, length <= 256 ? text : "") << length;
    }
  }
}

TEST(Hdf5File, DoesNotReadOtherFiles) {
  const TemporaryFolder folder;
  const auto other = with_truth(folder.file("other.hdf5")).done();
  const std::string raw = Bytes().add_text(std::string(16, 'x')).write(folder.file("raw"));
  const std::string path = folder.file("a.hdf5");
  {
    const Hdf5Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                          H5Fclose);
    const hsize_t dims[2] = {2, 2};
    const Hdf5Handle space(H5Screate_simple(2, dims, nullptr), H5Sclose);
    const auto create = [&](const char* name, const Hdf5Handle& plist) {
      return Hdf5Handle(H5Dcreate2(file.get(), name, H5T_IEEE_F32LE, space.get(), H5P_DEFAULT,
                                   plist.get(), H5P_DEFAULT),
                        H5Dclose)
          .ok();
    };
    const Hdf5Handle external(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_external(external.get(), raw.c_str(), 0, 16);
    EXPECT_TRUE(create("external", external));
    const Hdf5Handle mapped(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_virtual(mapped.get(), space.get(), other.c_str(), "train", space.get());
    EXPECT_TRUE(create("virtual", mapped));
    EXPECT_GE(
        H5Lcreate_external(other.c_str(), "train", file.get(), "link", H5P_DEFAULT, H5P_DEFAULT),
        0);
  }
  for (const char* name : {"external", "virtual"}) {
    EXPECT_THAT(message_of([&] { load(path + ":" + name); }), HasSubstr("another file")) << name;
  }
  EXPECT_THAT(message_of([&] { load(path + ":link"); }), HasSubstr("no data set 'link'"));
}

TEST(Hdf5File, RefusesOtherShapesAndTypes) {
  const TemporaryFolder folder;
  const auto path = AnnFile(folder.file("a.h5"))
                        .add<float>("flat", H5T_NATIVE_FLOAT, {4}, {1, 2, 3, 4})
                        .add<int>("wide", H5T_NATIVE_INT, {1, 1}, {1})
                        .add<float>("none", H5T_NATIVE_FLOAT, {0, 4}, {})
                        .add<float>("large", H5T_NATIVE_FLOAT, {1, 20000}, {})
                        .add<float>("lying", H5T_NATIVE_FLOAT, {1'000'000'000, 1000}, {})
                        .done();
  const auto open_error = [&](const char* name) {
    return message_of([&] { open_vectors(path + name); });
  };
  EXPECT_THAT(open_error(":flat"), HasSubstr("two-dimensional"));
  EXPECT_THAT(open_error(":wide"), HasSubstr("neither f32"));
  EXPECT_THAT(open_error(":none"), HasSubstr("no rows"));
  EXPECT_THAT(open_error(":large"), HasSubstr("dimension 20000"));
  EXPECT_THAT(open_error(":lying"), HasSubstr("are stored"));
  EXPECT_THAT(open_error(""), HasSubstr("no data set 'train'"));
  EXPECT_THAT(message_of([&] { read_groundtruth(path); }), HasSubstr("'neighbors'"));
}

TEST(Hdf5File, RefusesWhatIsNotHdf5) {
  const TemporaryFolder folder;
  const auto path = Bytes().add_text("not HDF5").write(folder.file("a.hdf5"));
  EXPECT_THAT(message_of([&] { open_vectors(path); }), HasSubstr("not a whole HDF5 file"));
  EXPECT_THAT(message_of([&] { open_vectors(folder.file("b.hdf5")); }), HasSubstr("No such file"));
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
  EXPECT_THAT(message_of([&] { create_vectors(path + ":train", shape); }),
              HasSubstr("already has"));
  EXPECT_EQ(folder.entries(), 1u);
}

}  // namespace
}  // namespace farvec::dataset
