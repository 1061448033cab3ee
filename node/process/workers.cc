#include "node/process/workers.h"

#include <algorithm>

#include "node/system/thread_start.h"

namespace orbweaver {

Result<std::unique_ptr<Workers>> Workers::start(const WorkersConfig& config, const Clock& clock, const Done& done) {
  std::unique_ptr<Workers> workers(new Workers);
  if (config.settings.text) workers->repeats_ = std::make_unique<SharedRepeats>(config.settings.max_text_fingerprints);
  const std::size_t count = std::max<std::size_t>(config.settings.workers, 1);
  workers->room_ = std::make_unique<DecodeRoom>(config.decoded, count);
  workers->links_ = config.links;
  for (std::size_t i = 0; i < count; ++i) {
    auto reader = PageReader::open(config, i, clock, workers->repeats_.get(), *workers->room_, workers->user_commands_);
    if (!reader) return tl::make_unexpected(reader.error());
    workers->readers_.push_back(std::move(*reader));
  }
  workers->done_ = done;
  if (config.settings.durability == Durability::power) {
    workers->sync_ = std::make_unique<PageSync>(done);
    if (Result<void> started = workers->sync_->start(); !started) return tl::make_unexpected(started.error());
  }
  for (const std::unique_ptr<PageReader>& reader : workers->readers_) {
    const Result<void> started =
        start_thread(workers->threads_.emplace_back(), [pool = workers.get(), self = reader.get()] {
          while (std::optional<ReadItem> item = pool->pop()) pool->read(*self, *std::move(item));
        });
    if (!started) {
      workers->threads_.pop_back();
      return tl::make_unexpected(started.error());
    }
  }
  return workers;
}

void Workers::read(PageReader& reader, ReadItem item) {
  PageDone page = reader.read(std::move(item));
  if (sync_ == nullptr) return done_(std::move(page));
  sync_->add(std::move(page), reader.written());
}

// Nothing: the worker stops.
std::optional<ReadItem> Workers::pop() {
  std::unique_lock lock(mutex_);
  ready_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
  if (queue_.empty()) return std::nullopt;
  ReadItem item = std::move(queue_.front());
  queue_.pop_front();
  return item;
}

void Workers::push(FetchJob job, FetchResponse response) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({std::move(job), std::move(response)});
  }
  ready_.notify_one();
}

void Workers::cancel() {
  std::deque<ReadItem> dropped;
  {
    const std::lock_guard lock(mutex_);
    dropped.swap(queue_);
  }
  for (const ReadItem& item : dropped) done_(not_read(item.job.id));
}

Result<void> Workers::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ready_.notify_all();
  if (links_ != nullptr) links_->stop_waiting();  // no thread commits any more
  for (std::thread& thread : threads_) thread.join();
  if (sync_ != nullptr) sync_->stop();
  threads_.clear();
  Result<void> closed;
  for (const std::unique_ptr<PageReader>& reader : readers_)
    if (Result<void> result = reader->close(); !result && closed) closed = result;
  readers_.clear();
  return closed;
}

Workers::~Workers() { (void)stop(); }

}  // namespace orbweaver
