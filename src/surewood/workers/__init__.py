"""Behind :mod:`surewood.parallel`: threads, processes, Dask and Ray."""
