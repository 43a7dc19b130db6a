"""Starts, watches and stops the daemons of a cluster.toml: what `launch.sh` runs."""
