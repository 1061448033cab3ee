// Rows of the table: bounds of everything from outside, in bytes, in time and in share.
#include "node/config/setting_def.h"
#include "node/settings/endpoint.h"
#include "node/text/shown.h"

namespace orbweaver {
namespace {

std::string check_port(std::string_view text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  if (digits && text.size() <= 5 && text.front() != '0' && std::stoul(std::string(text)) <= 65'535) return {};
  return shown(text) + " is not a port, from 1 to 65535";
}

std::string check_host_name(std::string_view text) {
  const auto endpoint = parse_endpoint(std::string(text) + ":1");
  return endpoint ? std::string{} : shown(text) + " is not a host name";
}

void add_memory(std::vector<SettingDef>& rows) {
  rows.push_back(
      size_setting({"max_memory",
                    "Memory of this peer, 128MiB or more; every buffer, cache and queue has a share of it. 0B: half of "
                    "the machine's memory or of the control group's limit, at most 4GiB.",
                    "One number instead of one for each stage. What strangers send is counted until it is on disk."},
                   &Settings::max_memory, "0B", "0B", "16TiB"));
  rows.push_back(size_setting(
      {"max_link_bytes", "Bytes of one page's resolved links; further links are counted and left out.",
       "100,000 links of ordinary length. A long `<base>` and short links would make 400 MB of one small page."},
      &Settings::max_link_bytes, "8MiB", "64KiB", "1GiB"));
}

void add_shares(std::vector<SettingDef>& rows) {
  rows.push_back(count_setting({"max_fetches_per_domain",
                                "A registered domain's share of `max_fetches`. Beyond it the domain's hosts use free "
                                "transfers, except for an eighth that stays free for other domains. 0: an eighth.",
                                "A wildcard domain has any number of hosts; slow ones would hold every transfer."},
                               &Settings::max_fetches_per_domain, 0U, 0U, 10'000U));
  rows.push_back(
      count_setting({"max_fetches_per_network", "The same for a network, a /24 of IPv4 or a /48 of IPv6. 0: an eighth.",
                     "Domains cost little more than names; addresses cost more."},
                    &Settings::max_fetches_per_network, 0U, 0U, 10'000U));
  rows.push_back(size_setting(
      {"average_speed_bytes",
       "Bytes per second, averaged since its first byte, below which a transfer that has lasted `low_speed_time` is "
       "abandoned.",
       "A page of 60 KB within a minute; a server that drips keeps no transfer. Set less on a line below 2 Mbit/s."},
      &Settings::average_speed_bytes, "1KiB", "0B", "1GiB"));
  rows.push_back(duration_setting(
      {"robots_timeout", "Time for the whole fetch of a robots.txt; `fetch_timeout`, if that is shorter.",
       "It is at most 500 KiB, and its host waits for it."},
      &Settings::robots_timeout, "20s", "100ms", "24h"));
}

void add_connections(std::vector<SettingDef>& rows) {
  rows.push_back(
      count_setting({"max_open_files",
                     "File descriptors of this peer; 0: as many as the system allows, at most 65,536. If they do not "
                     "suffice, kept connections, RocksDB's tables and `max_fetches` are reduced, in this order.",
                     "The usual limit of 1,024 is raised to what the system allows."},
                    &Settings::max_open_files, 0U, 0U, 1'048'576U));
  rows.push_back(
      count_setting({"max_unknown_connections",
                     "Connections to the ring's port that have not shown the ring key yet. Beyond that, the oldest of "
                     "the address with the most is closed.",
                     "A handshake takes a few round trips; a ring of thousands that forms at once tries again."},
                    &Settings::max_unknown_connections, 256U, 1U, 65'536U));
  rows.push_back(count_setting({"max_unknown_connections_per_address", "Of those, from one address (IPv6: one /64).",
                                "A machine that runs many peers has a few handshakes open at a time."},
                               &Settings::max_unknown_connections_per_address, 64U, 1U, 65'536U));
  rows.push_back(list_setting(
      {"deny_addresses", "Further ranges that are never fetched from, whatever `allow_private` says.",
       "Public addresses of your own network, and NAT64 prefixes of your own (RFC 6052), look like any others."},
      &Settings::deny_addresses, "ADDRESS/BITS each", check_cidr));
  rows.push_back(list_setting(
      {"allow_ports", "Ports that may be asked although the Fetch standard blocks them (\"bad ports\"), such as 6000.",
       "None: through a link to its port, a mail or chat server would see the crawler as an attacker."},
      &Settings::allow_ports, "1 to 65535 each", check_port));
  rows.push_back(list_setting(
      {"status_hosts", "Host names that requests to `status_listen` may use, in addition to addresses and localhost.",
       "None: otherwise a web page could read the status through a name of its own (DNS rebinding)."},
      &Settings::status_hosts, "host names", check_host_name));
}

void add_local(std::vector<SettingDef>& rows) {
  rows.push_back(choice_setting({"data_access",
                                 "Who may read the data directory: its owner, the owner's group, or all users. A ring "
                                 "key in it stays its owner's.",
                                 "It contains pages fetched with passwords or from an inner network."},
                                &Settings::data_access, DataAccess::owner, {"owner", "group", "all"}));
  rows.push_back(size_setting({"max_text_command_memory", "Address space of each process of a text command.",
                               "A document reader needs about 100 MB; one that is fed a bomb takes all there is."},
                              &Settings::max_text_command_memory, "1GiB", "16MiB", "1TiB"));
}

}  // namespace

void add_limit_settings(std::vector<SettingDef>& rows) {
  add_memory(rows);
  add_shares(rows);
  add_connections(rows);
  add_local(rows);
}

}  // namespace orbweaver
