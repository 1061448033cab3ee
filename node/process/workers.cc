#include "node/process/workers.h"

#include <algorithm>

#include "node/system/thread_start.h"

namespace orbweaver {

Result<std::unique_ptr<Workers>> Workers::start(const WorkersConfig& config, const Clock& clock, const Done& done) {
  std::unique_ptr<Workers> workers(new Workers);
  if (config.settings.text) workers->repeats_ = std::make_unique<SharedRepeats>(config.settings.max_text_fingerprints);
  const std::size_t count = std::max<std::size_t>(config.settings.workers, 1);
  workers->room_ = std::make_unique<DecodeRoom>(config.decoded, count);
  workers->links_ = std::make_unique<LinksRoom>(config.links);
  for (std::size_t i = 0; i <= count; ++i) {
    auto reader =
        PageReader::open(config, {.index = i, .large = i == count}, clock,
                         {*workers->room_, *workers->links_, workers->user_commands_, workers->repeats_.get()});
    if (!reader) return tl::make_unexpected(reader.error());
    workers->readers_.push_back(std::move(*reader));
  }
  workers->done_ = done;
  if (config.settings.durability == Durability::power) {
    workers->sync_ = std::make_unique<PageSync>(done);
    if (Result<void> started = workers->sync_->start(); !started) return tl::make_unexpected(started.error());
  }
  for (const std::unique_ptr<PageReader>& reader : workers->readers_) {
    Queue& queue = reader == workers->readers_.back() ? workers->large_ : workers->queue_;
    if (Result<void> started = workers->start_reading(*reader, queue); !started)
      return tl::make_unexpected(started.error());
  }
  return workers;
}

Result<void> Workers::start_reading(PageReader& reader, Queue& queue) {
  Result<void> started = start_thread(threads_.emplace_back(), [this, &reader, &queue] {
    while (std::optional<ReadItem> item = pop(queue)) read(reader, *std::move(item));
  });
  if (!started) threads_.pop_back();
  return started;
}

void Workers::read(PageReader& reader, ReadItem item) {
  std::optional<PageDone> page = reader.read(item);
  if (!page && !cancelled()) return push(large_, std::move(item));
  if (!page) return done_(not_read(item.job.id));
  if (sync_ == nullptr) return done_(std::move(*page));
  sync_->add(std::move(*page), reader.written());
}

// Nothing: the worker stops.
std::optional<ReadItem> Workers::pop(Queue& queue) {
  std::unique_lock lock(mutex_);
  queue.ready.wait(lock, [&queue] { return queue.ends || !queue.items.empty(); });
  if (queue.items.empty()) return std::nullopt;
  ReadItem item = std::move(queue.items.front());
  queue.items.pop_front();
  return item;
}

void Workers::push(Queue& queue, ReadItem item) {
  {
    const std::lock_guard lock(mutex_);
    queue.items.push_back(std::move(item));
  }
  queue.ready.notify_one();
}

void Workers::push(FetchJob job, FetchResponse response) { push(queue_, {std::move(job), std::move(response)}); }

bool Workers::cancelled() {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

void Workers::cancel() {
  std::deque<ReadItem> dropped;
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    dropped.swap(queue_.items);
    for (; !large_.items.empty(); large_.items.pop_front()) dropped.push_back(std::move(large_.items.front()));
  }
  for (const ReadItem& item : dropped) done_(not_read(item.job.id));
}

// Its threads are those from `first` to before `last`.
void Workers::end(Queue& queue, std::size_t first, std::size_t last) {
  {
    const std::lock_guard lock(mutex_);
    queue.ends = true;
  }
  queue.ready.notify_all();
  for (std::size_t i = first; i < std::min(last, threads_.size()); ++i) threads_[i].join();
}

Result<void> Workers::stop() {
  if (links_ != nullptr) links_->stop_waiting();  // no thread commits any more
  const std::size_t large = std::max<std::size_t>(readers_.size(), 1) - 1;
  end(queue_, 0, large);  // these may still find large ones
  end(large_, large, threads_.size());
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
