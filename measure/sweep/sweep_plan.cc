#include "measure/sweep/sweep_plan.h"

namespace farvec::measure {
namespace {

/// Lists how searches are done, without where and how they run.
std::vector<SweepPoint> searches(const SweepAxes& axes) {
  std::vector<SweepPoint> result;
  SweepPoint point;
  for (const search::SearchChoice& choice : axes.choices) {
    point.choice = choice;
    for (const search::DiskChoice& disk : axes.disks) {
      point.disk = disk;
      result.push_back(point);
    }
  }
  return result;
}

}  // namespace

std::vector<SweepPoint> SweepAxes::points() const {
  std::vector<SweepPoint> result;
  std::size_t group = 0;
  for (SweepPoint point : searches(*this)) {
    for (auto cache : cache_bytes) {
      for (auto slot : slots) {
        for (auto thread : threads) {
          for (std::size_t tier = 0; tier < tiers; ++tier) {
            point.group = group;
            point.tier = tier;
            point.threads = thread;
            point.slots = slot;
            point.cache_bytes = cache;
            result.push_back(point);
          }
          ++group;
        }
      }
    }
  }
  return result;
}

}  // namespace farvec::measure
