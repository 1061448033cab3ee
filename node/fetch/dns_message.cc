#include "node/fetch/dns_message.h"

#include <algorithm>
#include <optional>
#include <span>

namespace orbweaver {
namespace {

constexpr std::uint16_t type_cname = 5;
constexpr std::uint16_t type_soa = 6;
constexpr std::uint16_t class_internet = 1;

// Reads big-endian numbers; after the end of the bytes every number is 0 and ok() is false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }

  std::uint32_t number(std::size_t size) {
    std::uint32_t value = 0;
    for (const char byte : take(size)) value = value << 8 | static_cast<std::uint8_t>(byte);
    return value;
  }
  std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
  std::string_view take(std::size_t size) {
    if (!ok_ || size > bytes_.size() - at_) {
      ok_ = false;
      return {};
    }
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  // RFC 1035, 4.1.4: labels up to an empty one, or up to a pointer, which ends the name.
  void skip_name() {
    while (ok_) {
      const std::uint32_t length = number(1);
      if (length == 0) return;
      if (length >= 0xc0) {
        number(1);
        return;
      }
      if (length > 63) ok_ = false;
      take(length);
    }
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

struct Record {
  std::uint16_t type = 0;
  std::uint16_t klass = 0;
  std::uint32_t ttl = 0;
  std::string_view data;
};

Record next_record(Reader& in) {
  Record record;
  in.skip_name();
  record.type = in.u16();
  record.klass = in.u16();
  record.ttl = in.number(4);
  if ((record.ttl & 0x80000000U) != 0) record.ttl = 0;  // RFC 2181, 8
  record.data = in.take(in.u16());
  return record;
}

// RFC 2308, 5.
std::optional<std::uint32_t> negative_ttl(const Record& record) {
  Reader soa(record.data);
  // Its two names may point into the message, but only their length matters here.
  soa.skip_name();
  soa.skip_name();
  soa.take(16);  // serial, refresh, retry, expire
  const std::uint32_t minimum = soa.number(4);
  if (!soa.ok()) return std::nullopt;
  return std::min(record.ttl, minimum);
}

std::string rcode_text(unsigned rcode) {
  constexpr const char* names[] = {"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"};
  return rcode < std::size(names) ? names[rcode] : "code " + std::to_string(rcode);
}

}  // namespace

DnsAnswer parse_dns_answer(std::string_view message, DnsType type) {
  DnsAnswer answer;
  answer.problem = "the name server's answer cannot be read";
  Reader in(message);
  in.u16();  // id: the resolver has matched it
  const std::uint16_t flags = in.u16();
  const std::uint16_t questions = in.u16();
  const std::uint16_t answers = in.u16();
  const std::uint16_t authorities = in.u16();
  in.u16();
  for (std::uint16_t i = 0; i < questions && in.ok(); ++i) {
    in.skip_name();
    in.take(4);
  }
  if (!in.ok()) return answer;
  const unsigned rcode = flags & 0xfU;
  if (rcode != 0 && rcode != 3) {
    answer.problem = "the name server says " + rcode_text(rcode);
    return answer;
  }
  std::uint32_t least = 0x7fffffff;
  for (std::uint16_t i = 0; i < answers; ++i) {
    const Record record = next_record(in);
    if (!in.ok()) return answer;
    if (record.klass != class_internet) continue;
    if (record.type == type_cname) least = std::min(least, record.ttl);
    if (record.type != static_cast<std::uint16_t>(type)) continue;
    if (record.data.size() != (type == DnsType::a ? 4U : 16U)) return answer;
    least = std::min(least, record.ttl);
    const auto address =
        IpAddress::from_bytes({reinterpret_cast<const std::uint8_t*>(record.data.data()), record.data.size()});
    if (address && answer.addresses.size() < max_dns_addresses) answer.addresses.push_back(*address);
  }
  answer.problem.clear();
  if (!answer.addresses.empty()) {
    answer.kind = DnsAnswer::Kind::addresses;
    answer.ttl = std::chrono::seconds(least);
    return answer;
  }
  answer.kind = rcode == 3 ? DnsAnswer::Kind::no_name : DnsAnswer::Kind::no_data;
  for (std::uint16_t i = 0; i < authorities; ++i) {
    const Record record = next_record(in);
    if (!in.ok()) break;  // the records read so far are enough
    if (record.type != type_soa || record.klass != class_internet) continue;
    if (const auto ttl = negative_ttl(record)) answer.ttl = std::chrono::seconds(*ttl);
    break;
  }
  return answer;
}

}  // namespace orbweaver
