"""Table files of any origin as frames: :func:`read_table`.

* :mod:`~surewood.tables.reading.file_format`: what a file is, by its name and by its first bytes;
* :mod:`~surewood.tables.reading.text_file`: bytes as text;
* :mod:`~surewood.tables.reading.text_file`: CSV, TSV and the like;
* :mod:`~surewood.tables.reading.table_file`: all formats behind one function.
"""
