"""The benchmark of network monitors fed by route netlink."""
