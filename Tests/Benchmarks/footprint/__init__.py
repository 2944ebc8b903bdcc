"""What the programs weigh on a device, and what the service costs while nothing happens."""
