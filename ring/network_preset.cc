#include "ring/network_preset.h"

#include "ring/membership.h"

namespace orbweaver::ring {

using std::chrono::milliseconds;
using std::chrono::seconds;

MembershipConfig preset(NetworkPreset network) {
  MembershipConfig config;
  switch (network) {
    case NetworkPreset::lan:
      break;
    case NetworkPreset::wan:
      config.probe_every = seconds(2);
      config.probe_timeout = seconds(1);
      config.suspicion_time = seconds(30);
      config.suspicion_factor = 4;
      break;
    case NetworkPreset::local:
      config.probe_every = milliseconds(200);
      config.probe_timeout = milliseconds(100);
      config.suspicion_time = seconds(3);
      config.suspicion_factor = 2;
      break;
  }
  return config;
}

}  // namespace orbweaver::ring
