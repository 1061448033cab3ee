// What a message costs a transport that has many connections: CPU of the whole process, per message and answer, over
// loopback. One transport answers at many addresses of 127.0.0.0/8; the other has sent to each of them, and then asks
// one of them again and again. Prints a line for each number of connections.
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "ring/zmq_transport.h"

using orbweaver::ring::ReplyPath;
using orbweaver::ring::ZmqTransport;

namespace {

constexpr int messages = 20'000;
constexpr std::chrono::microseconds look_again{50};

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

std::unique_ptr<ZmqTransport> opened(const std::string& listen, const std::string& key, ZmqTransport::OnMessage take) {
  auto transport = ZmqTransport::open({.listen = listen, .ring_secret_key = key}, std::move(take));
  if (transport) return std::move(*transport);
  std::fprintf(stderr, "transport_bench: %s\n", transport.error().message.c_str());
  std::exit(1);
}

void measure(int connections) {
  const std::string key = orbweaver::ring::make_ring_secret();
  ZmqTransport* answers = nullptr;
  std::atomic<int> answered = 0;
  const auto server = opened("0.0.0.0:0", key,
                             [&](std::string bytes, const ReplyPath& path) { answers->reply(path, std::move(bytes)); });
  answers = server.get();
  const std::string port = server->listen_address().substr(server->listen_address().rfind(':'));
  const auto client = opened("127.0.0.1:0", key, [&](std::string, const ReplyPath&) { ++answered; });
  const auto wait_for = [&](int count) {
    while (answered < count) std::this_thread::sleep_for(look_again);
  };
  for (int i = 0; i < connections; ++i) {
    client->send("127.1." + std::to_string(i / 250) + "." + std::to_string(1 + i % 250) + port, "hello");
    wait_for(i + 1);
  }
  const double before = cpu_seconds();
  for (int i = 0; i < messages; ++i) {
    client->send("127.1.0.1" + port, "a batch");
    wait_for(connections + i + 1);
  }
  std::printf("%5d connections: %6.1f us of CPU a message and its answer\n", connections,
              1e6 * (cpu_seconds() - before) / messages);
}

}  // namespace

int main() {
  for (const int connections : {2, 10, 100, 500}) measure(connections);
}
