"""What the columns of a raw table are: found once, shown, editable, and applied the same way to later tables.

* :mod:`~surewood.tables.planning.words`: truth values, and texts that mean "no value";
* :mod:`~surewood.tables.planning.numbers`: decimal and thousands marks, currency, percent, units;
* :mod:`~surewood.tables.planning.dates`: forms of dates, day before month or month before day, durations;
* :mod:`~surewood.tables.planning.column_plan`: the plan of one column, and reading values by it;
* :mod:`~surewood.tables.planning.finding`: what a column is, by its values;
* :mod:`~surewood.tables.planning.labels`: labels cleaned; a target that is a quantity, as classes;
* :mod:`~surewood.tables.planning.table_plan`: the plan of a table, as TOML and as a printed overview.
"""
