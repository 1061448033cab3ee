#include "node/process/in_flight.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

namespace orbweaver {
namespace {

constexpr std::string_view magic = "orbweaver-work 1";
constexpr std::size_t place_bytes = 32;
constexpr std::uint8_t state_waits = 1;
constexpr std::uint8_t state_at_work = 2;
constexpr std::size_t digests_at = 3;  // after the state and the partition

// `places`: the number of places in the file; the last run may have had more than this one.
std::vector<storage::UrlKey> read_left(const std::string& path, std::size_t& places) {
  std::vector<storage::UrlKey> left;
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  places = 0;
  if (!bytes.starts_with(magic)) return left;
  places = (bytes.size() - magic.size()) / place_bytes;
  for (std::size_t at = magic.size(); at + place_bytes <= bytes.size(); at += place_bytes) {
    const auto* place = reinterpret_cast<const unsigned char*>(bytes.data()) + at;
    if (place[0] != state_at_work) continue;
    storage::UrlKey key;
    key.host.partition = static_cast<std::uint16_t>(place[1] | place[2] << 8);
    std::memcpy(key.host.host.data(), place + digests_at, key.host.host.size());
    std::memcpy(key.url.data(), place + digests_at + key.host.host.size(), key.url.size());
    left.push_back(key);
  }
  return left;
}

tl::unexpected<Error> failed(const char* what, const std::string& path, int error) {
  return fail(error == ENOSPC || error == EDQUOT ? ErrorCode::disk_full : ErrorCode::io,
              std::string(what) + " " + path + ": " + std::strerror(error));
}

}  // namespace

Result<std::unique_ptr<InFlight>> InFlight::open(const std::string& path, std::size_t pages) {
  std::unique_ptr<InFlight> made(new InFlight);
  made->path_ = path;
  std::size_t before = 0;
  made->left_ = read_left(path, before);
  made->size_ = magic.size() + std::max(pages, before) * place_bytes;
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return failed("cannot open", path, errno);
  // Cuts off a partial place at the end, or a file of another kind, so that it is not read as a place. Reserves the
  // file's blocks: a store into a mapped page that the disk has no room for would kill the process.
  const auto whole = static_cast<off_t>(magic.size() + before * place_bytes);
  const int reserved = ::ftruncate(fd, whole) != 0 ? errno : ::posix_fallocate(fd, 0, static_cast<off_t>(made->size_));
  void* const mapped =
      reserved == 0 ? ::mmap(nullptr, made->size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  const int error = reserved != 0 ? reserved : errno;
  ::close(fd);
  if (mapped == MAP_FAILED) return failed("cannot map", path, error);
  made->bytes_ = static_cast<unsigned char*>(mapped);
  const auto places = static_cast<std::uint32_t>((made->size_ - magic.size()) / place_bytes);
  made->at_work_by_ = std::vector<std::atomic<std::thread::id>>(places);
  for (std::uint32_t place = places; place-- > 0;) made->free_.push_back(place);
  return made;
}

InFlight::~InFlight() {
  if (bytes_ != nullptr) ::munmap(bytes_, size_);
}

void InFlight::clear() {
  std::memset(bytes_ + magic.size(), 0, size_ - magic.size());
  std::memcpy(bytes_, magic.data(), magic.size());
  left_.clear();
}

InFlightMark InFlight::begin(const storage::UrlKey& page) {
  std::uint32_t place = 0;
  {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return {};
    place = free_.back();
    free_.pop_back();
  }
  unsigned char* const at = bytes_ + magic.size() + place * place_bytes;
  at[1] = static_cast<unsigned char>(page.host.partition & 0xff);
  at[2] = static_cast<unsigned char>(page.host.partition >> 8);
  std::memcpy(at + digests_at, page.host.host.data(), page.host.host.size());
  std::memcpy(at + digests_at + page.host.host.size(), page.url.data(), page.url.size());
  set_state(place, state_at_work);
  return {this, place};
}

std::atomic_ref<unsigned char> InFlight::state(std::uint32_t place) {
  return std::atomic_ref(bytes_[magic.size() + place * place_bytes]);
}

// The process may die between any two instructions, so the compiler must not reorder the stores.
void InFlight::set_state(std::uint32_t place, std::uint8_t to) {
  if (to == state_at_work) at_work_by_[place].store(std::this_thread::get_id(), std::memory_order_relaxed);
  state(place).store(to, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_release);
}

// Changes only places that this thread has at work: no other thread touches those.
InFlightPause::InFlightPause(InFlight* in_flight) : in_flight_(in_flight) {
  if (in_flight_ == nullptr) return;
  const std::thread::id mine = std::this_thread::get_id();
  for (std::uint32_t place = 0; place < in_flight_->at_work_by_.size(); ++place)
    if (in_flight_->state(place).load(std::memory_order_acquire) == state_at_work &&
        in_flight_->at_work_by_[place].load(std::memory_order_relaxed) == mine)
      places_.push_back(place);
  for (const std::uint32_t place : places_) in_flight_->set_state(place, state_waits);
}

InFlightPause::~InFlightPause() {
  for (const std::uint32_t place : places_) in_flight_->set_state(place, state_at_work);
}

void InFlight::free(std::uint32_t place) {
  set_state(place, 0);
  const std::lock_guard lock(mutex_);
  free_.push_back(place);
}

void InFlight::close() { ::unlink(path_.c_str()); }

namespace {

class MarkInFlight final : public PageMark::Holder {
 public:
  explicit MarkInFlight(InFlightMark mark) : mark_(std::move(mark)) {}
  void at_work() override { mark_.at_work(); }
  void waits() override { mark_.waits(); }

 private:
  InFlightMark mark_;
};

}  // namespace

PageMark for_core(InFlightMark mark) { return PageMark(std::make_unique<MarkInFlight>(std::move(mark))); }

}  // namespace orbweaver
