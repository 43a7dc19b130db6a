"""Starts, watches and stops the daemons of a launch.toml: what `launch.sh` runs."""
