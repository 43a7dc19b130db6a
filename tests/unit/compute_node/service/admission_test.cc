#include "compute_node/service/admission.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

namespace farvec::compute_node {
namespace {

constexpr RequestLimits kDoor{.max_k = 40,
                              .max_list = 30,
                              .max_queries = 8,
                              .default_list = 10,
                              .default_width = 2,
                              .max_probe = 20,
                              .default_probe = 6,
                              .max_width = 8};

/// 35 vectors of one u8.
ServedIndex of_bytes(std::uint32_t clusters) {
  ServedIndex index;
  index.source_type = index.stored_type = ElementType::u8;
  index.dimension = 1;
  index.count = 35;
  if (clusters > 0) index.kind = layout::IndexKind::cluster;
  index.clusters = clusters;
  return index;
}

/// One query to the index.
Admission at_the_door(const ServedIndex& index,
                      const std::function<void(v1::SearchRequest&)>& ask) {
  v1::SearchRequest request;
  request.set_type(v1::ELEMENT_TYPE_U8);
  request.set_dimension(1);
  request.set_k(5);
  request.add_queries("x");
  ask(request);
  return check_request(request, index, kDoor);
}

Admission at_the_door(std::uint32_t clusters, const std::function<void(v1::SearchRequest&)>& ask) {
  return at_the_door(of_bytes(clusters), ask);
}

TEST(Admission, OfAGraphNamesTheField) {
  const auto wrong = [](const auto& ask) { return at_the_door(0, ask).wrong; };
  EXPECT_EQ(wrong([](auto& r) { r.set_k(0); }), "k: 0 came, 1 to 30 is allowed");
  EXPECT_EQ(wrong([](auto& r) { r.set_k(31); }), "k: 31 came, 1 to 30 is allowed");
  EXPECT_EQ(wrong([](auto& r) { r.set_list(4); }), "list: 4 came, 5 to 30 is allowed: at least k");
  EXPECT_EQ(wrong([](auto& r) { r.set_list(31); }),
            "list: 31 came, 5 to 30 is allowed: at least k");
  EXPECT_EQ(wrong([](auto& r) { r.set_width(0); }), "width: 0 came, 1 to 8 is allowed");
  EXPECT_EQ(wrong([](auto& r) { r.set_width(9); }), "width: 9 came, 1 to 8 is allowed");
  EXPECT_EQ(wrong([](auto& r) { r.set_width(65); }), "width: 65 came, 1 to 8 is allowed");
  EXPECT_EQ(wrong([](auto& r) { r.set_probe(0); }), "") << "a graph has none to probe";
  EXPECT_EQ(wrong([](auto& r) { r.set_plan(static_cast<v1::FilterPlan>(3)); }),
            "plan: 3 came, 0 to 2 are allowed");
}

TEST(Admission, OfClustersNamesTheField) {
  const auto wrong = [](const auto& ask) { return at_the_door(9, ask).wrong; };
  EXPECT_EQ(wrong([](auto& r) { r.set_k(0); }),
            "k: 0 came, 1 to 35 is allowed: the index has no more vectors");
  EXPECT_EQ(wrong([](auto& r) { r.set_k(36); }),
            "k: 36 came, 1 to 35 is allowed: the index has no more vectors");
  EXPECT_EQ(wrong([](auto& r) { r.set_probe(0); }), "probe: 0 came, 1 to 20 is allowed");
  EXPECT_EQ(wrong([](auto& r) { r.set_probe(21); }), "probe: 21 came, 1 to 20 is allowed");
  EXPECT_EQ(wrong([](auto& r) { r.set_within(std::nanf("")); }),
            "within: NaN came, a number is allowed");
  EXPECT_EQ(wrong([](auto& r) { r.set_prune_ratio(0.5f); }),
            "prune_ratio: 0.5 came, 1 or more is allowed");
  EXPECT_EQ(wrong([](auto& r) { r.set_list(0); }), "") << "clusters have no list";
}

TEST(Admission, OfASecondCopyNamesTheField) {
  const auto wrong = [](bool refines, std::uint32_t clusters, const auto& ask) {
    ServedIndex index = of_bytes(clusters);
    index.refines = refines;
    return at_the_door(index, ask).wrong;
  };
  const auto refine = [](std::uint32_t times) {
    return [times](auto& r) { r.set_refine(times); };  // k is 5 and the list 10
  };
  EXPECT_EQ(wrong(false, 0, refine(1)),
            "refine: the index has no second copy of its vectors: leave it out");
  EXPECT_EQ(wrong(false, 0, [](auto& r) { r.set_candidates(true); }),
            "candidates: the index has no second copy of its vectors: leave it out");
  EXPECT_EQ(wrong(true, 0, refine(2)), "");
  EXPECT_EQ(wrong(true, 0, refine(3)), "refine: 3 came, 1 to 2 is allowed");
  EXPECT_EQ(wrong(true, 9, refine(2)), "");
  EXPECT_EQ(wrong(true, 9, refine(1'000'000)), "refine: 1000000 came, 1 to 2 is allowed");
  EXPECT_EQ(wrong(true, 0,
                  [](auto& r) {
                    r.set_refine(1);
                    r.set_candidates(true);
                  }),
            "refine: candidates are not ranked again: leave one of both out");
  ServedIndex index = of_bytes(0);
  index.refines = true;
  const BatchShape shape = at_the_door(index, refine(2)).shape;
  EXPECT_EQ(shape.refine, 2u);
  EXPECT_FALSE(shape.candidates);
}

TEST(Admission, FillsInWhatARequestDoesNotSay) {
  const BatchShape graph = at_the_door(0, [](auto&) {}).shape;
  EXPECT_EQ(graph.queries, 1u);
  EXPECT_EQ(graph.query_bytes, 1u);
  EXPECT_EQ(graph.parameters.k(), 5u);
  EXPECT_EQ(graph.parameters.graph().list, 10u);
  EXPECT_EQ(graph.parameters.graph().width, 2u);
  EXPECT_EQ(graph.work, work_of(10));
  EXPECT_EQ(graph.plan, search::FilterPlan::chosen);
  const auto walked = [](auto& r) { r.set_plan(v1::FILTER_PLAN_WALK); };
  EXPECT_EQ(at_the_door(0, walked).shape.plan, search::FilterPlan::walk);
  const BatchShape longer = at_the_door(0, [](auto& r) { r.set_k(25); }).shape;
  EXPECT_EQ(longer.parameters.graph().list, 25u) << "at least k";
  const BatchShape clusters = at_the_door(4, [](auto&) {}).shape;
  EXPECT_EQ(clusters.parameters.probing().clusters, 6u);
  EXPECT_EQ(clusters.work, work_of(4)) << "there are no more";
}

TEST(Admission, OneRequestHoldsAsManyQueriesAsItsBytesAllow) {
  RequestLimits limits;
  limits.max_queries = 1024;
  EXPECT_EQ(most_queries(limits, 512), 1024u);
  EXPECT_EQ(most_queries(limits, 4 * 4096), 1024u);
  const std::uint32_t most = most_queries(limits, kMaxVectorBytes);
  EXPECT_GT(most, 900u);
  // Each query comes with up to four bytes before it.
  EXPECT_LT(most * std::size_t{kMaxVectorBytes + 4}, kMostRequestBytes);
}

}  // namespace
}  // namespace farvec::compute_node
