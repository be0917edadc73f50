"""What the fault matrix and the soak are made of: a virtual fleet, runs on it, faults, and a judge."""
