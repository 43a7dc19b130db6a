#include "cli/collection/background_watch.h"

#include <utility>

namespace farvec::cli {

BackgroundWatch::BackgroundWatch(std::function<collection::BuildProgress()> look, bool quiet)
    : look_(std::move(look)), quiet_(quiet), ticker_([this] { show(); }) {}

void BackgroundWatch::show() {
  const collection::BuildProgress now = look_();
  if (now.rows != rows_ || now.linked < shown_) {  // this is another segment, or none
    progress_.reset();
    rows_ = now.rows;
    shown_ = 0;
    if (rows_ > 0) progress_.emplace("rows of a segment", rows_, quiet_);
  }
  if (!progress_) return;
  progress_->advance(now.linked - shown_);
  shown_ = now.linked;
}

}  // namespace farvec::cli
