// What the transport's start can be refused, and in which words. Only for ring/zmq_*.cc.
#pragma once

#include <string>

#include "ring/types.h"

namespace orbweaver::ring {

// `number`: the errno of what was refused.
Error listen_error(const std::string& listen, int number);

// libzmq ends the process when the system refuses it a thread. So as many are started and ended before, together; a
// refusal throws std::system_error.
void try_library_threads();

}  // namespace orbweaver::ring
