#include "ring/codec.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <exception>
#include <msgpack.hpp>
#include <type_traits>
#include <utility>

#include "ring/host_port.h"
#include "ring/message_fields.h"
#include "ring/utf8.h"

namespace orbweaver::ring {

namespace {

// The wire: [version, type, ring, from, incarnation, body], body an array of the fields in the order of messages.h.
// Ids and batch records are bin, texts are str, a member is an array, `counts` is a map. See docs/reference/formats.md.
constexpr std::size_t envelope_fields = 6;
constexpr std::size_t max_nesting = 8;  // ours need 4; the rest is room for fields of later versions, which are skipped

template <class T, class Variant>
struct IndexOf;
template <class T, class... Rest>
struct IndexOf<T, std::variant<T, Rest...>> : std::integral_constant<std::size_t, 0> {};
template <class T, class First, class... Rest>
struct IndexOf<T, std::variant<First, Rest...>>
    : std::integral_constant<std::size_t, 1 + IndexOf<T, std::variant<Rest...>>::value> {};

// The type number on the wire is the position in Body, counted from 1: so Body is append only.
static_assert(IndexOf<Join, Body>::value + 1 == 1 && IndexOf<Sync, Body>::value + 1 == 7 &&
              IndexOf<Batch, Body>::value + 1 == 8 && IndexOf<Finish, Body>::value + 1 == 13 &&
              IndexOf<Answer, Body>::value + 1 == 16 && IndexOf<LeavesDiffer, Body>::value + 1 == 20 &&
              IndexOf<MirrorHints, Body>::value + 1 == 24 && IndexOf<LeaseAnswer, Body>::value + 1 == 26 &&
              IndexOf<RecordsKnown, Body>::value + 1 == 30 && std::variant_size_v<Body> == 30);

constexpr std::array<std::string_view, std::variant_size_v<Body>> type_names = {"join",
                                                                                "welcome",
                                                                                "refuse",
                                                                                "ping",
                                                                                "ping_request",
                                                                                "ping_ack",
                                                                                "sync",
                                                                                "batch",
                                                                                "batch_ack",
                                                                                "batch_refused",
                                                                                "wave_probe",
                                                                                "wave_reply",
                                                                                "finish",
                                                                                "finish_ack",
                                                                                "ask",
                                                                                "answer",
                                                                                "roots",
                                                                                "roots_compared",
                                                                                "leaves",
                                                                                "leaves_differ",
                                                                                "slot_request",
                                                                                "slot_answer",
                                                                                "fingerprints",
                                                                                "mirror_hints",
                                                                                "lease_request",
                                                                                "lease_answer",
                                                                                "compare_tenures",
                                                                                "tenures_compared",
                                                                                "ask_records",
                                                                                "records_known"};

// ---- writing ----

struct StringSink {
  std::string bytes;
  void write(const char* data, std::size_t size) { bytes.append(data, size); }
};

struct BinaryOut {
  const std::string& bytes;
};
template <class T>
struct LaterOut {
  const T& value;
};
#ifdef ORBWEAVER_PROTOCOL_AHEAD
struct TextIn5Out {
  std::uint64_t value;
};
#endif

class Writer {
 public:
  Writer(StringSink& sink, std::uint16_t version) : version_(version), packer_(sink) {}

  BinaryOut binary(const std::string& bytes) { return {bytes}; }
  template <class T>
  LaterOut<T> later(const T& value) {
    return {value};
  }
#ifdef ORBWEAVER_PROTOCOL_AHEAD
  TextIn5Out text_in_5(std::uint64_t value) { return {value}; }
  void write(const TextIn5Out& number) { version_ >= 5 ? write(std::to_string(number.value)) : write(number.value); }
#endif

  template <class... T>
  void operator()(const T&... values) {
    packer_.pack_array(static_cast<std::uint32_t>(sizeof...(values)));
    (write(values), ...);
  }

  template <class Enum>
  requires std::is_enum_v<Enum>
  void write(Enum value) { packer_.pack_uint8(static_cast<std::uint8_t>(value)); }
  void write(std::uint64_t value) { packer_.pack_uint64(value); }
  void write(std::uint32_t value) { packer_.pack_uint32(value); }
  void write(std::uint16_t value) { packer_.pack_uint16(value); }
  void write(bool value) { value ? packer_.pack_true() : packer_.pack_false(); }
  void write(const std::string& text) {
    packer_.pack_str(static_cast<std::uint32_t>(text.size()));
    packer_.pack_str_body(text.data(), static_cast<std::uint32_t>(text.size()));
  }
  void write(const BinaryOut& binary) {
    packer_.pack_bin(static_cast<std::uint32_t>(binary.bytes.size()));
    packer_.pack_bin_body(binary.bytes.data(), static_cast<std::uint32_t>(binary.bytes.size()));
  }
  template <class T>
  void write(const LaterOut<T>& later) {
    write(later.value);
  }
  void write(const PeerId& id) { write(id.bytes); }
  void write(const Md5& bytes) {  // also the bytes of an id, which have the same type
    packer_.pack_bin(static_cast<std::uint32_t>(bytes.size()));
    packer_.pack_bin_body(reinterpret_cast<const char*>(bytes.data()), static_cast<std::uint32_t>(bytes.size()));
  }
  void write(const std::pair<std::string, std::string>& pair) { (*this)(pair.first, pair.second); }
  void write(const std::map<std::string, std::uint64_t>& counts) {
    packer_.pack_map(static_cast<std::uint32_t>(counts.size()));
    for (const auto& [name, value] : counts) {
      write(name);
      write(value);
    }
  }
  void write(const BatchRecords& records) { write(records.list()); }
  template <class T>
  void write(const std::vector<T>& values) {
    packer_.pack_array(static_cast<std::uint32_t>(values.size()));
    for (const T& value : values) write(value);
  }
  template <class T>
  requires std::is_class_v<T>
  void write(const T& record) { fields(*this, record, Is<T>{}); }

 private:
  [[maybe_unused]] const std::uint16_t version_;  // of the message: a field may have another form in each version
  msgpack::packer<StringSink> packer_;
};

// Enough for most messages in one allocation; a batch is by far the largest.
std::size_t size_guess(const Body& body) {
  std::size_t size = 256;
  if (const auto* batch = std::get_if<Batch>(&body)) {
    for (const BatchRecord& entry : batch->records) size += entry.record.size() + 9;
    size += batch->tenures.size() * 32;
  }
  return size;
}

// ---- reading ----

// Thrown by Reader and caught by decode(), as msgpack's own errors are: one way out of a deep message.
class Malformed : public std::exception {
 public:
  explicit Malformed(std::string what) : what_(std::move(what)) {}
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

struct BinaryIn {
  std::string& bytes;
};
template <class T>
struct LaterIn {
  T& value;
};
#ifdef ORBWEAVER_PROTOCOL_AHEAD
struct TextIn5In {
  std::uint64_t& value;
};
#endif

constexpr MemberState last_of(Is<MemberState>) { return MemberState::down; }
constexpr BatchKind last_of(Is<BatchKind>) { return BatchKind::transfer; }
constexpr TransferKind last_of(Is<TransferKind>) { return TransferKind::ask; }
constexpr EndStage last_of(Is<EndStage>) { return EndStage::taken_back; }
constexpr LeaseAction last_of(Is<LeaseAction>) { return LeaseAction::return_; }

template <class T>
constexpr std::size_t max_count() {
  if constexpr (std::is_same_v<T, BatchRecord>) return max_batch_records;
  if constexpr (std::is_same_v<T, Member>) return max_members;
  if constexpr (std::is_same_v<T, std::pair<std::string, std::string>>) return max_settings;
  if constexpr (std::is_same_v<T, std::uint64_t>) return max_leaves;
  if constexpr (std::is_same_v<T, SlotAsk> || std::is_same_v<T, Slot>) return max_asks;
  if constexpr (std::is_same_v<T, LeaseAsk> || std::is_same_v<T, Lease>) return max_asks;
  if constexpr (!std::is_same_v<T, std::string>) return max_partitions;  // lists by partition
  return max_seeds;
}

// Reads one array of fields; elements beyond the known ones come from a later version and are skipped.
class Reader {
 public:
  explicit Reader(const msgpack::object& object) {
    if (object.type != msgpack::type::ARRAY) throw Malformed("an array of fields is missing");
    next_ = object.via.array.ptr;
    left_ = object.via.array.size;
  }

  BinaryIn binary(std::string& bytes) { return {bytes}; }
  template <class T>
  LaterIn<T> later(T& value) {
    return {value};
  }
#ifdef ORBWEAVER_PROTOCOL_AHEAD
  TextIn5In text_in_5(std::uint64_t& value) { return {value}; }
  static void read(const msgpack::object& from, TextIn5In& number) {
    if (from.type != msgpack::type::STR) return read(from, number.value);  // version 4
    const char* const end = from.via.str.ptr + from.via.str.size;
    if (std::from_chars(from.via.str.ptr, end, number.value).ptr != end) throw Malformed("a text is no number");
  }
#endif

  template <class... T>
  void operator()(T&&... values) {
    (next(values), ...);
  }

  template <class T>
  void next(T&& value) {
    if (left_ == 0) throw Malformed("fields are missing");
    --left_;
    read(*next_++, value);
  }
  template <class T>
  void next(LaterIn<T>& later) {
    if (left_ > 0) next(later.value);
  }

  static std::uint64_t unsigned_in(const msgpack::object& from, std::uint64_t max) {
    if (from.type != msgpack::type::POSITIVE_INTEGER) throw Malformed("a number is missing or negative");
    if (from.via.u64 > max) throw Malformed("number " + std::to_string(from.via.u64) + " is too large");
    return from.via.u64;
  }
  static void read(const msgpack::object& from, std::uint64_t& value) { value = unsigned_in(from, UINT64_MAX); }
  static void read(const msgpack::object& from, std::uint32_t& value) {
    value = static_cast<std::uint32_t>(unsigned_in(from, UINT32_MAX));
  }
  static void read(const msgpack::object& from, std::uint16_t& value) {
    value = static_cast<std::uint16_t>(unsigned_in(from, UINT16_MAX));
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  static void read(const msgpack::object& from, Enum& value) {
    value = static_cast<Enum>(unsigned_in(from, static_cast<std::uint64_t>(last_of(Is<Enum>{}))));
  }
  static void read(const msgpack::object& from, bool& value) {
    if (from.type != msgpack::type::BOOLEAN) throw Malformed("a true or false is missing");
    value = from.via.boolean;
  }
  static void read(const msgpack::object& from, std::string& text) {
    if (from.type != msgpack::type::STR) throw Malformed("a text is missing");
    const std::string_view bytes(from.via.str.ptr, from.via.str.size);
    if (!is_utf8(bytes)) throw Malformed("a text is not UTF-8");
    text = bytes;
  }
  static void read(const msgpack::object& from, BinaryIn& binary) {
    if (from.type != msgpack::type::BIN) throw Malformed("binary data is missing");
    binary.bytes.assign(from.via.bin.ptr, from.via.bin.size);
  }
  static void read(const msgpack::object& from, PeerId& id) { read(from, id.bytes); }
  static void read(const msgpack::object& from, Md5& bytes) {
    if (from.type != msgpack::type::BIN || from.via.bin.size != bytes.size())
      throw Malformed("an id or a digest is not 16 bytes");
    std::memcpy(bytes.data(), from.via.bin.ptr, bytes.size());
  }
  static void read(const msgpack::object& from, std::pair<std::string, std::string>& pair) {
    Reader reader(from);
    reader(pair.first, pair.second);
  }
  static void read(const msgpack::object& from, std::map<std::string, std::uint64_t>& counts) {
    if (from.type != msgpack::type::MAP) throw Malformed("a map of counts is missing");
    if (from.via.map.size > max_counts) throw Malformed("too many counts");
    for (std::uint32_t i = 0; i < from.via.map.size; ++i) {
      const msgpack::object_kv& entry = from.via.map.ptr[i];
      std::string name;
      read(entry.key, name);
      read(entry.val, counts[std::move(name)]);
    }
  }
  static void read(const msgpack::object& from, BatchRecords& records) {
    std::vector<BatchRecord> list;
    read(from, list);
    records = std::move(list);
  }
  template <class T>
  static void read(const msgpack::object& from, std::vector<T>& values) {
    if (from.type != msgpack::type::ARRAY) throw Malformed("a list is missing");
    if (from.via.array.size > max_count<T>())
      throw Malformed("a list is longer than " + std::to_string(max_count<T>()));
    values.resize(from.via.array.size);
    for (std::uint32_t i = 0; i < from.via.array.size; ++i) read(from.via.array.ptr[i], values[i]);
  }
  template <class T>
  requires std::is_class_v<T>
  static void read(const msgpack::object& from, T& record) {
    Reader reader(from);
    fields(reader, record, Is<T>{});
    if constexpr (std::is_same_v<T, Member>) check(record);
    if constexpr (std::is_same_v<T, SlotAsk>)
      if (record.address.size() != 4 && record.address.size() != 16)
        throw Malformed("an IP address has " + std::to_string(record.address.size()) + " bytes");
    if constexpr (std::is_same_v<T, Ask>)
      if (record.verb.size() > max_verb_bytes)
        throw Malformed("a question's verb is longer than " + std::to_string(max_verb_bytes) + " bytes");
  }

 private:
  static void check(const Member& member) {
    if (member.id == PeerId{}) throw Malformed("a member has no identity");
    if (const auto address = parse_host_port(member.address); !address || address->port == 0)
      throw Malformed("the address of member " + member.id.brief() + " is not HOST:PORT");
    if (member.capacity > max_capacity)
      throw Malformed("capacity " + std::to_string(member.capacity) + " is too large");
    if (member.incarnation > max_incarnation) throw Malformed("an incarnation is out of bounds");
  }

  const msgpack::object* next_ = nullptr;
  std::size_t left_ = 0;
};

template <std::size_t... Index>
bool read_body(const msgpack::object& from, std::uint64_t type, Body& body, std::index_sequence<Index...>) {
  return ((type == Index + 1 && (Reader::read(from, body.emplace<Index>()), true)) || ...);
}

// Finds the envelope's fields.
const msgpack::object* fields_of(const msgpack::object& envelope) {
  if (envelope.type != msgpack::type::ARRAY || envelope.via.array.size < envelope_fields) {
    throw Malformed("it is not an Orbweaver message");
  }
  return envelope.via.array.ptr;
}

Message read_message(const msgpack::object& envelope) {
  const msgpack::object* field = fields_of(envelope);
  Message message;
  Reader::read(field[0], message.version);
  Reader::read(field[2], message.ring);
  Reader::read(field[3], message.from);
  if (message.version < protocol_version_min || message.version > protocol_version) {
    throw Malformed("it is of protocol version " + std::to_string(message.version) + ", this peer speaks versions " +
                    std::to_string(protocol_version_min) + " to " + std::to_string(protocol_version) +
                    "; upgrade one release at a time");
  }
  const std::uint64_t type = Reader::unsigned_in(field[1], UINT64_MAX);
  Reader::read(field[4], message.incarnation);
  if (type == 0 || type > std::variant_size_v<Body>) {
    throw Malformed("message type " + std::to_string(type) + " is unknown to protocol version " +
                    std::to_string(protocol_version));
  }
  try {
    read_body(field[5], type, message.body, std::make_index_sequence<std::variant_size_v<Body>>{});
  } catch (const Malformed& error) {
    // A command has no identity and sends from no known address.
    const std::string sender = message.from == PeerId{} ? "" : " from " + message.from.brief();
    throw Malformed("in " + std::string(type_names[type - 1]) + sender + ": " + error.what());
  }
  return message;
}

tl::unexpected<Error> bad(const std::string& why) { return tl::make_unexpected(Error{"bad ring message: " + why}); }

}  // namespace

std::string_view type_name(const Body& body) {
  return body.valueless_by_exception() ? "none" : type_names[body.index()];
}

std::string encode(const Message& message) {
  StringSink sink;
  sink.bytes.reserve(size_guess(message.body));
  msgpack::packer<StringSink> packer(sink);
  packer.pack_array(envelope_fields);
  Writer writer(sink, message.version);
  writer.write(message.version);
  packer.pack_uint8(static_cast<std::uint8_t>(message.body.index() + 1));
  writer.write(message.ring);
  writer.write(message.from);
  writer.write(message.incarnation);
  std::visit([&writer](const auto& body) { writer.write(body); }, message.body);
  return std::move(sink.bytes);
}

namespace {

// Larger messages are counted before they are read: a list of small lists is many values in few bytes.
constexpr std::size_t counted_from_bytes = 256 * 1024;

struct Counting : msgpack::null_visitor {
  std::size_t left = max_values;
  // Each value is visited once; false ends the parse.
  bool visit_nil() { return one(); }
  bool visit_boolean(bool) { return one(); }
  bool visit_positive_integer(std::uint64_t) { return one(); }
  bool visit_negative_integer(std::int64_t) { return one(); }
  bool visit_float32(float) { return one(); }
  bool visit_float64(double) { return one(); }
  bool visit_str(const char*, std::uint32_t) { return one(); }
  bool visit_bin(const char*, std::uint32_t) { return one(); }
  bool visit_ext(const char*, std::uint32_t) { return one(); }
  bool start_array(std::uint32_t) { return one(); }
  bool start_map(std::uint32_t) { return one(); }

 private:
  bool one() { return left > 0 && left-- > 0; }
};

// The envelope in `zone`; texts and binaries stay where they are in `bytes`.
msgpack::object unpack(std::string_view bytes, msgpack::zone& zone) {
  if (bytes.size() > counted_from_bytes) {
    Counting counting;
    std::size_t parsed = 0;
    msgpack::parse(bytes.data(), bytes.size(), parsed, counting);
    if (counting.left == 0) throw Malformed("it holds more than " + std::to_string(max_values) + " values");
  }
  // A claimed length beyond these is refused before memory is allocated for it. What passes costs at most 24 bytes for
  // each value of the message and 1.5 MiB for each level of nesting.
  const msgpack::unpack_limit limits(std::max(max_batch_records, max_members), max_counts, max_text_bytes,
                                     max_text_bytes, 0, max_nesting);
  std::size_t used = 0;
  bool referenced = false;
  const auto refer = [](msgpack::type::object_type, std::size_t, void*) { return true; };
  const msgpack::object envelope =
      msgpack::unpack(zone, bytes.data(), bytes.size(), used, referenced, refer, nullptr, limits);
  if (used != bytes.size()) throw Malformed("bytes follow its end");
  return envelope;
}

// read() of the unpacked message, or the error.
template <class Read>
auto reading(std::string_view bytes, Read read) -> Result<decltype(read(msgpack::object()))> {
  try {
    msgpack::zone zone(64 * 1024);
    return read(unpack(bytes, zone));
  } catch (const Malformed& error) {
    return bad(error.what());
  } catch (const msgpack::insufficient_bytes&) {
    return bad("it is cut short");
  } catch (const msgpack::size_overflow&) {
    return bad("it claims a length or a nesting beyond the limits");
  } catch (const std::exception& error) {
    return bad(error.what());
  }
}

}  // namespace

Result<Message> decode(std::string_view bytes) {
  if (bytes.size() > max_message_bytes) return bad("it is larger than " + std::to_string(max_message_bytes) + " bytes");
  return reading(bytes, read_message);
}

Result<std::vector<Member>> decode_stored_members(std::string_view bytes, std::vector<std::string>& dropped) {
  return reading(bytes, [&dropped](const msgpack::object& envelope) {
    const msgpack::object* field = fields_of(envelope);
    if (Reader::unsigned_in(field[1], UINT64_MAX) != IndexOf<Sync, Body>::value + 1)
      throw Malformed("it is not a sync message");
    const msgpack::object& body = field[5];
    if (body.type != msgpack::type::ARRAY || body.via.array.size < 2 ||
        body.via.array.ptr[1].type != msgpack::type::ARRAY)
      throw Malformed("a list is missing");
    const msgpack::object_array& list = body.via.array.ptr[1].via.array;
    std::vector<Member> members;
    for (std::uint32_t i = 0; i < list.size; ++i) {
      try {
        if (members.size() >= max_members)
          throw Malformed("there are more than " + std::to_string(max_members) + " members");
        Member member;
        Reader::read(list.ptr[i], member);
        members.push_back(std::move(member));
      } catch (const Malformed& error) {
        dropped.emplace_back(error.what());
      }
    }
    return members;
  });
}

namespace {

// Sums the memory that the fields of a message take in addition to their own size.
class Sizer {
 public:
  std::size_t bytes = 0;

  const std::string& binary(const std::string& text) { return text; }
  template <class T>
  const T& later(const T& value) {
    return value;
  }
#ifdef ORBWEAVER_PROTOCOL_AHEAD
  std::uint64_t text_in_5(std::uint64_t value) { return value; }
#endif
  template <class... T>
  void operator()(const T&... values) {
    (add(values), ...);
  }

 private:
  void add(const std::string& text) {
    if (text.capacity() > std::string().capacity()) bytes += text.capacity() + 1;
  }
  void add(const std::pair<std::string, std::string>& pair) {
    add(pair.first);
    add(pair.second);
  }
  void add(const std::map<std::string, std::uint64_t>& counts) {
    constexpr std::size_t node = 32;  // colour and three pointers
    for (const auto& [name, value] : counts) {
      bytes += node + sizeof(std::pair<const std::string, std::uint64_t>);
      add(name);
    }
  }
  template <class T>
  void add(const std::vector<T>& values) {
    bytes += values.capacity() * sizeof(T);
    for (const T& value : values) add(value);
  }
  void add(const BatchRecords& records) {
    constexpr std::size_t counts = 16;  // of the peers that share the list
    if (!records.empty()) bytes += sizeof(std::vector<BatchRecord>) + counts;
    add(records.list());
  }
  void add(const PeerId&) {}
  void add(const Md5&) {}
  template <class T>
  requires(!std::is_class_v<T>) void add(const T&) {}
  template <class T>
  requires std::is_class_v<T>
  void add(const T& record) { fields(*this, record, Is<T>{}); }

 public:
  void body(const Body& of) {
    std::visit([this](const auto& one) { add(one); }, of);
  }
};

}  // namespace

std::size_t memory_bytes(const Message& message) {
  Sizer sizer;
  sizer.body(message.body);
  return sizeof(Message) + sizer.bytes;
}

}  // namespace orbweaver::ring
