// cpp-httplib's server with its connection loop replaced: the library's own wakes each idle connection a hundred times
// a second and sends head and body in two packets. Here an idle connection sleeps in poll(), and an answer leaves in
// one write. Thread rule: one pool thread a connection while it lasts.
#pragma once

#include <httplib.h>

#include <chrono>
#include <functional>
#include <string>

namespace orbweaver::sample {

inline constexpr std::size_t connections_usual = 768;

class KeepAliveServer : public httplib::Server {
 public:
  KeepAliveServer();

  // Called for each request once its head is read, before the handlers.
  std::function<void(httplib::Request&)> on_head;

  // Open at a time, one thread each; further ones wait until one closes. Before the server listens.
  void set_connections_max(std::size_t connections);

  // The library listens with a backlog of 5, which drops connections when hundreds come at once; call this after bind.
  void deepen_backlog();

 private:
  bool process_and_close_socket(socket_t fd) override;
  bool wait_for_request(socket_t fd) const;
};

}  // namespace orbweaver::sample
