// Vectors in random clusters, and the index that they make on disk.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <vector>

#include "base/membership.h"
#include "base/random.h"
#include "layout/index/cluster_writer.h"
#include "layout/index/index_directory.h"

namespace farvec::layout {

/// How a test loads what RandomClusters has written.
inline const LoadOptions kOneThread{.threads = 1, .quiet = true};

/// Every vector is in 1 to `replicas` of the clusters, the last of which stays empty; its home is
/// one of them at random.
class RandomClusters {
 public:
  static constexpr std::uint32_t kDimension = 19;

  explicit RandomClusters(std::size_t count = 700, std::uint32_t clusters = 23,
                          std::uint32_t replicas = 5)
      : clusters_(clusters) {
    Random random(11);
    begins_.push_back(0);
    const std::uint32_t used = std::max(clusters - 1, 1u);
    for (std::size_t v = 0; v < count; ++v) {
      const auto wanted = 1 + static_cast<std::uint32_t>(random.below(replicas));
      std::vector<ClusterId> own;
      while (own.size() < std::min(wanted, used)) {
        const auto cluster = static_cast<ClusterId>(random.below(used));
        if (std::find(own.begin(), own.end(), cluster) == own.end()) own.push_back(cluster);
      }
      homes_.push_back(own[random.below(own.size())]);
      members_.insert(members_.end(), own.begin(), own.end());
      begins_.push_back(members_.size());
    }
    for (std::size_t i = 0; i < count * kDimension; ++i) {
      rows_.push_back(static_cast<std::uint8_t>(random.next()));
    }
    for (std::size_t i = 0; i < std::size_t{clusters} * kDimension; ++i) {
      centroids_.push_back(static_cast<float>(random.below(256)));
    }
    // A ring over the centroids.
    for (ClusterId c = 0; c < clusters; ++c) neighbors_.push_back((c + 1) % clusters);
    degrees_.assign(clusters, 1);
  }

  MembershipView membership() const { return {begins_, members_}; }
  const std::vector<ClusterId>& homes() const { return homes_; }
  std::uint32_t clusters() const { return clusters_; }
  VectorView vectors() const {
    return packed_view(rows_.data(), homes_.size(), kDimension, ElementType::u8);
  }
  static constexpr std::uint32_t kCodeBlockBytes = 128;
  /// What stands for the code of a member.
  static std::byte code_of(ClusterId cluster, NodeId id) {
    return static_cast<std::byte>(cluster * 31 + id * 7 + 1);
  }
  /// The first bytes of a block are the codes of its members.
  static MemberCodes codes() {
    return {2, kCodeBlockBytes,
            [](ClusterId cluster, std::span<const NodeId> ids, std::span<std::byte> out) {
              for (std::size_t i = 0; i < ids.size(); ++i) {
                out[i / kCodeBlock * kCodeBlockBytes + i % kCodeBlock] = code_of(cluster, ids[i]);
              }
            }};
  }
  ClusterContents contents(bool record_checksum = false) const {
    return {membership(), homes_, vectors(), clusters_, record_checksum, codes()};
  }
  CentroidsView centroids() const {
    return {centroids_, kDimension, {neighbors_.data(), degrees_.data(), clusters_, 1, 0}};
  }
  /// The same with what stands for the parameters of codes.
  CentroidsView coded_centroids() const {
    CentroidsView view = centroids();
    view.codes.header.bits = codes().bits;
    view.codes.header.dimension = kDimension;
    view.codes.header.record_bytes = kCodeBlockBytes;
    view.codes.header.type = ElementType::u8;
    view.codes.header.count = members_.size();
    view.codes.centroid = std::span(centroids_).first(kDimension);
    return view;
  }
  /// Ascending.
  std::vector<NodeId> members_of(ClusterId cluster) const {
    std::vector<NodeId> ids;
    for (std::size_t v = 0; v < homes_.size(); ++v) {
      const auto own = membership().of(v);
      if (std::find(own.begin(), own.end(), cluster) != own.end()) {
        ids.push_back(static_cast<NodeId>(v));
      }
    }
    return ids;
  }

  Manifest write(const std::filesystem::path& directory, ClusterLayoutKind kind,
                 bool record_checksum = false) const {
    Manifest manifest;
    manifest.metric = Metric::l2;
    manifest.source_type = ElementType::u8;
    auto& description = manifest.description.emplace<ClusterDescription>();
    description.geometry.kind = kind;
    description.build = {
        .replicas = 5, .closure_ratio = 1.25, .balance = 1.5, .sample = 100, .seed = 7};
    manifest.dataset = {"random", "random.u8bin", kDimension, homes_.size(),
                        fingerprint(vectors())};
    manifest.farvec_version = "0.0.0";
    manifest.farvec_commit = "unknown";
    const bool coded = kind == ClusterLayoutKind::coded;
    return write_cluster_index(directory, manifest, contents(record_checksum),
                               coded ? coded_centroids() : centroids(),
                               {.overwrite = true, .threads = 2, .quiet = true});
  }

 private:
  std::uint32_t clusters_;
  std::vector<std::uint64_t> begins_;
  std::vector<ClusterId> members_;
  std::vector<ClusterId> homes_;
  std::vector<std::uint8_t> rows_;
  std::vector<float> centroids_;
  std::vector<ClusterId> neighbors_;
  std::vector<std::uint32_t> degrees_;
};

}  // namespace farvec::layout
