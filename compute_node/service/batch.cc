#include "compute_node/service/batch.h"

namespace farvec::compute_node {

Batch::Batch(const BatchShape& shape)
    : shape_(shape),
      lines_per_query_(round_up(shape.query_bytes, kCacheLineBytes) / kCacheLineBytes),
      queries_(lines_per_query_ * shape.queries),
      ids_(std::size_t{shape.queries} * shape.parameters.k()),
      distances_(std::size_t{shape.queries} * shape.parameters.k()),
      tasks_(shape.queries),
      pending_(shape.queries) {
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    QueuedTask& task = tasks_[i];
    task.batch = this;
    task.request.query = query_slot(i);
    task.request.parameters = shape.parameters;
    task.request.partial = shape.partial;
    task.request.exact = shape.exact;
    task.request.within = shape.within;
    task.request.deadline = shape.deadline;
    task.request.condition = shape_.condition.get();
    task.request.plan = shape.plan;
    task.request.refine = shape.refine;
    task.request.candidates = shape.candidates;
    task.request.attributes = !shape_.select.empty();
    task.work = shape.work;
    task.answer.ids = ids_.data() + i * shape.parameters.k();
    task.answer.distances = distances_.data() + i * shape.parameters.k();
  }
}

std::byte* Batch::query_slot(std::size_t i) {
  return reinterpret_cast<std::byte*>(queries_.data() + i * lines_per_query_);
}

bool Batch::finish_one() {
  // Release: this core's results; acquire: the last one sees the results of all others.
  return pending_.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

void Batch::refuse_late_answer(Ticks now) {
  for (QueuedTask& task : tasks_) {
    if (!task.answer.status.ok() || now <= task.request.deadline) continue;
    task.answer.status = {StatusCode::deadline_exceeded,
                          "the deadline passed before the answer was sent"};
  }
}

bool Batch::cancelled() const {
  // Relaxed, because it is a hint that saves work and orders nothing.
  return cancel_flag->load(std::memory_order_relaxed);
}

}  // namespace farvec::compute_node
