"""What every benchmark of this directory shares: packages, programs, namespaces, processes, tables and bars."""
