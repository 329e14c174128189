"""What the columns of a raw table are: found once, shown, editable, and applied the same way to later tables.

* :mod:`~surewood.tables.planning.words`: texts that mean "no value";
* :mod:`~surewood.tables.planning.numbers`: decimal and thousands marks, currency, percent, units;
* :mod:`~surewood.tables.planning.dates`: forms of dates, day before month or month before day;
* :mod:`~surewood.tables.planning.dates`: ``1:30:00``, ``2 h 5 min``;
* :mod:`~surewood.tables.planning.free_text`: sentences as a few numbers;
* :mod:`~surewood.tables.planning.column_plan`: the plan of one column, and reading values by it;
* :mod:`~surewood.tables.planning.finding`: what a plan makes of the values, missing and lost ones counted;
* :mod:`~surewood.tables.planning.finding`: what a column is, by its values;
* :mod:`~surewood.tables.planning.finding`: labels trimmed, missing ones found;
* :mod:`~surewood.tables.planning.table_plan`: the plan of a table, as TOML and as a printed overview.
"""
