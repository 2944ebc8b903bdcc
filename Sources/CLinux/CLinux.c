// SPDX-License-Identifier: Apache-2.0
// Every function of this target is inline in its header; SwiftPM wants one source file.
#include "CLinux.h"
