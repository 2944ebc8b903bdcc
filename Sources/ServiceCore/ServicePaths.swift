// SPDX-License-Identifier: Apache-2.0

/// Where the service of a device is found.
package enum ServicePaths {
    package static let socket = "/run/reach/reach.varlink"
    package static let configuration = "/etc/reach/reach.toml"
    package static let stateDirectory = "/var/lib/reach"
    /// The variable that names another socket to clients.
    package static let socketVariable = "REACH_SOCKET"
}
