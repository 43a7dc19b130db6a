// This file has the part of Service for segments of collections.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "layout/index/manifest.h"
#include "memory_node/service.h"
#include "memory_node/service_replies.h"
#include "rpc/address.h"
#include "rpc/status.h"

namespace farvec::memory_node {
namespace {

/// A collection has the name of its folder, which has at most this many bytes.
constexpr std::size_t kMostNameBytes = 255;

layout::SegmentKey key_of(const v1::SegmentName& name) {
  return {name.collection(), name.number()};
}

HeldFile file_of(const v1::HeldFile& file, FileKind kind) {
  return {.path = file.path(), .bytes = file.bytes(), .checksum = file.xxh3(), .kind = kind};
}

/// Returns the paths of a part, for messages in quotes.
std::string path_of(const Publisher::Part& part) {
  std::string path = part.index;
  for (const HeldFile& file : part.files) path += (path.empty() ? "" : "' with '") + file.path;
  return path;
}

}  // namespace

grpc::Status Service::check_segments() const {
  if (options_.segment_bytes > 0) return grpc::Status::OK;
  return rpc::to_grpc(StatusCode::failed_precondition,
                      "the memory node holds no segments: start it with --segment-bytes SIZE");
}

/// Loads a segment, or a catalogue. The paths are checked in the way of an index's.
grpc::Status Service::load_part(const grpc::ServerContext& context, Publisher::Part part,
                                v1::LoadSegmentResponse& response) {
  if (auto status = check_segments(); !status.ok()) return status;
  const std::string path = path_of(part);
  if (auto status = check_load(context, part.index, part.files); !status.ok()) return status;
  try {
    const auto table = publisher_.publish_part(part, [&context] { return context.IsCancelled(); });
    response.set_generation(table->generation);
    response.set_region_bytes(table->total_bytes());
    response.set_attributes_xxh3(table->file_checksum(FileKind::attributes));
    return grpc::Status::OK;
  } catch (const PublisherBusy& busy) {
    return {grpc::StatusCode::ABORTED, busy.what()};
  } catch (const std::exception& error) {
    spdlog::warn("'{}' is not held: {}", path, error.what());
    return load_failure(path, rpc::is_unix_peer(context.peer()));
  }
}

grpc::Status Service::LoadSegment(grpc::ServerContext* context,
                                  const v1::LoadSegmentRequest* request,
                                  v1::LoadSegmentResponse* response) {
  state_.calls.fetch_add(1, kRelaxed);
  Publisher::Part part{.key = key_of(request->name()), .index = request->index()};
  if (part.key.number == layout::kCatalogueNumber || part.index.empty()) {
    return rpc::to_grpc(StatusCode::invalid_argument, "a segment has a number and an index");
  }
  if (request->has_attributes() && !request->has_ids()) {
    return rpc::to_grpc(StatusCode::invalid_argument, "a segment with attributes has ids");
  }
  if (request->has_ids()) part.files.push_back(file_of(request->ids(), FileKind::ids));
  if (request->has_attributes()) {
    part.files.push_back(file_of(request->attributes(), FileKind::attributes));
  }
  return load_part(*context, part, *response);
}

grpc::Status Service::LoadCatalogue(grpc::ServerContext* context,
                                    const v1::LoadCatalogueRequest* request,
                                    v1::LoadSegmentResponse* response) {
  state_.calls.fetch_add(1, kRelaxed);
  if (request->name().size() > kMostNameBytes) {
    return rpc::to_grpc(StatusCode::invalid_argument,
                        fmt::format("name: at most {} bytes", kMostNameBytes));
  }
  return load_part(*context,
                   {.key = {request->collection(), layout::kCatalogueNumber},
                    .files = {file_of(request->file(), FileKind::catalogue)},
                    .name = request->name(),
                    .revision = request->revision()},
                   *response);
}

grpc::Status Service::DropSegment(grpc::ServerContext* context,
                                  const v1::DropSegmentRequest* request, v1::DropSegmentResponse*) {
  state_.calls.fetch_add(1, kRelaxed);
  if (auto status = check_segments(); !status.ok()) return status;
  if (auto status = check_publisher(*context); !status.ok()) return status;
  state_.publications.drop_segment(key_of(request->name()));
  spdlog::info("segment {} of collection {:016x} is dropped", request->name().number(),
               request->name().collection());
  return grpc::Status::OK;
}

grpc::Status Service::AttachSegment(grpc::ServerContext* context,
                                    const v1::AttachSegmentRequest* request,
                                    v1::AttachResponse* response) {
  state_.calls.fetch_add(1, kRelaxed);
  if (auto status = check_segments(); !status.ok()) return status;
  if (state_.state.load(kRelaxed) != v1::STATE_SERVING) {
    return rpc::to_grpc(StatusCode::unavailable, "the memory node is not serving");
  }
  const auto segment = state_.publications.segment(key_of(request->name()));
  if (segment == nullptr) {
    return rpc::to_grpc(StatusCode::not_found,
                        fmt::format("the memory node does not hold segment {} of the collection",
                                    request->name().number()));
  }
  return lease(segment, request->client(), *context, *response);
}

grpc::Status Service::ListSegments(grpc::ServerContext*, const v1::ListSegmentsRequest* request,
                                   v1::ListSegmentsResponse* response) {
  state_.calls.fetch_add(1, kRelaxed);
  if (auto status = check_segments(); !status.ok()) return status;
  for (const auto& [number, held] : state_.publications.segments_of(request->collection())) {
    auto& segment = *response->add_segments();
    segment.set_number(number);
    segment.set_manifest_xxh3(layout::manifest_checksum(held->table->manifest_json));
    segment.set_region_bytes(held->table->total_bytes());
    segment.set_ids_xxh3(held->table->file_checksum(FileKind::ids));
    segment.set_attributes_xxh3(held->table->file_checksum(FileKind::attributes));
  }
  return grpc::Status::OK;
}

grpc::Status Service::ListCollections(grpc::ServerContext*, const v1::ListCollectionsRequest*,
                                      v1::ListCollectionsResponse* response) {
  state_.calls.fetch_add(1, kRelaxed);
  if (auto status = check_segments(); !status.ok()) return status;
  for (const auto& [number, held] : state_.publications.catalogues()) {
    auto& collection = *response->add_collections();
    collection.set_collection(number);
    collection.set_name(held->name);
    collection.set_revision(held->revision);
    collection.set_file_xxh3(held->table->file_checksum(FileKind::catalogue));
  }
  return grpc::Status::OK;
}

}  // namespace farvec::memory_node
