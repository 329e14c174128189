"""Exports as programs write them: one small table in many files, for `test_exports`."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd


def customers(n=130, seed=0):
    """Identifier, category, whole number, amount, revenue in thousands, fraction, date, label."""
    rng = np.random.default_rng(seed)
    months, fee = rng.integers(1, 60, n), np.round(rng.uniform(5, 200, n), 2)
    score = (months < 25) + (fee > 100) + rng.normal(0, 0.3, n)
    return pd.DataFrame(
        {
            "Customer ID": [f"C-{k}" for k in rng.permutation(n) + 10_000],
            "Region": rng.choice(["North", "South", "West"], n),
            "Months": months,
            "Fee": fee,
            "Revenue": rng.integers(1_000, 99_999, n),
            "Discount": np.round(rng.uniform(0, 0.5, n), 3),
            "Since": pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 1200, n), unit="D"),
            "Churned": np.where(score > 1, "yes", "no"),
        }
    )


def _texts(frame, decimal=",", thousands=".", currency="{} €", date="%d.%m.%Y", percent="{} %"):
    """The table with numbers and dates as texts of one country."""

    def amount(value, form):
        return format(value, form).replace(",", "T").replace(".", decimal).replace("T", thousands)

    return frame.assign(
        Fee=[amount(v, ".2f") for v in frame["Fee"]],
        Revenue=[currency.format(amount(v, ",")) for v in frame["Revenue"]],
        Discount=[percent.format(amount(100 * v, ".1f")) for v in frame["Discount"]],
        Since=frame["Since"].dt.strftime(date),
    )


def _us(frame):
    return _texts(frame, ".", ",", "${}", "%m/%d/%Y", "{}%")


def _whole_dollars(frame):
    """No amount has cents: nothing but the currency and the groups of three say what a comma is."""
    return frame.assign(Revenue=[f"${v:,}" for v in frame["Revenue"]]).drop(columns=["Fee", "Discount"])


def _csv(change=lambda frame: frame, before="", after="", **options):
    """Writes the table as CSV, changed, with lines above and below."""

    def write(frame, path):
        text = change(frame).to_csv(**{"index": False, "lineterminator": "\n", **options})
        path = path.with_suffix(".csv")
        encoding = options.get("encoding", "utf-8")
        path.write_bytes((before + text + after).encode(encoding))
        return [path]

    return write


def _excel(**options):
    def write(frame, path):
        path = path.with_suffix(".xlsx")
        frame.to_excel(path, **options)
        return [path]

    return write


def _workbook(above=(), notes_first=False, grouped=False, blank_columns=0):
    """As a person saves it in Excel: formatted cells, titles, merged groups of columns, further sheets."""

    def write(frame, path):
        import openpyxl

        book = openpyxl.Workbook()
        sheet = book.active
        sheet.title = "Customers"
        for line in above:
            sheet.append(line)
        if grouped:
            sheet.append(["Customer", None, "Contract", None, None, None, None, "Outcome"])
            row = sheet.max_row
            for cells in (f"A{row}:B{row}", f"C{row}:G{row}"):
                sheet.merge_cells(cells)
        for _ in range(blank_columns):
            frame = frame.assign(**{f"_{_}": None})
        sheet.append([None if name.startswith("_") else name for name in frame.columns])
        for values in frame.astype(object).itertuples(index=False):
            sheet.append(
                [value.to_pydatetime() if isinstance(value, pd.Timestamp) else value for value in values]
            )
        for column, form in (("D", "#,##0.00"), ("E", '"$"#,##0'), ("F", "0.0%"), ("G", "DD/MM/YYYY")):
            for cell in sheet[column]:
                cell.number_format = form
        if notes_first:
            notes = book.create_sheet("Read me", 0)
            notes.append(["Export of the billing system"])
            notes.append([None, "Questions to the controlling department"])
        path = path.with_suffix(".xlsx")
        book.save(path)
        return [path]

    return write


def _several(orders, change=lambda k, part: part):
    def write(frame, path):
        paths = []
        for k, columns in enumerate(orders):
            part = frame.iloc[k :: len(orders)]
            paths.append(path.with_name(f"{path.name}-{k}.csv"))
            change(k, part[columns(list(part.columns))]).to_csv(paths[-1], index=False)
        return paths

    return write


def _gz(frame, path):
    path = path.with_suffix(".csv.gz")
    path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    return [path]


def _indexed_parquet(frame, path):
    path = path.with_suffix(".parquet")
    frame.set_index("Customer ID").to_parquet(path)
    return [path]


def _json_lines(frame, path):
    path = path.with_suffix(".jsonl")
    frame.to_json(path, orient="records", lines=True, date_format="iso")
    return [path]


def _sorted(frame):
    return frame.sort_values("Churned", ignore_index=True)


def _capital_labels(frame):
    return frame.assign(Churned=frame["Churned"].where(frame.index % 3 > 0, "Yes"))


def _shuffled(frame):
    """Half of the rows come second in the table that was indexed, as of two files put together."""
    return frame.sort_values("Churned", ignore_index=True).sample(frac=1, random_state=0)


def _blanks_before_quotes(frame, path):
    path = path.with_suffix(".csv")
    texts = frame.assign(Since=frame["Since"].astype(str)).astype(object).to_numpy().tolist()
    lines = [", ".join(json.dumps(cell) for cell in row) for row in [list(frame), *texts]]
    path.write_text("\n".join(lines) + "\n")
    return [path]


@dataclass(frozen=True)
class Export:
    """A file as some program writes it, and what the commands are to make of it."""

    name: str
    write: Callable[[pd.DataFrame, Path], list[Path]]
    target: str = "Churned"
    #: Columns that must be read as numbers of the table.
    numbers: tuple[str, ...] = ("Months", "Fee", "Revenue", "Discount")
    #: Part of a note that the fit prints.
    note: str = ""
    #: Part of the sentence that the first try gets, and the options in it that make the second one work.
    sentence: str = ""
    fix: str = ""
    #: Whether later tables hold an identifier.
    identified: bool = True


_GROUPS = ",,Contract,,,,,Outcome\n"


def _shown(n):
    """Amounts with commas, smaller ones beside them, and no column that tells what a comma is."""
    return lambda f: f[["Months", "Revenue", "Churned"]].assign(
        Revenue=[f"{v:,}" if v >= n else str(v) for v in f["Revenue"] // 10]
    )


EXPORTS = (
    Export("plain", _csv()),
    Export("german", _csv(_texts, sep=";", encoding="cp1252")),
    Export("german with a byte order mark", _csv(_texts, sep=";", encoding="utf-8-sig")),
    Export("us", _csv(_us)),
    Export("french", _csv(lambda f: _texts(f, ",", "\u202f", "{}\u00a0€", "%d/%m/%Y"), sep=";")),
    Export("swiss", _csv(lambda f: _texts(f, ".", "’", "CHF {}"), sep=";")),
    Export("unicode text of excel", _csv(_texts, sep="\t", encoding="utf-16")),
    Export("whole dollars", _csv(_whole_dollars), numbers=("Revenue",), note="the comma read as a thousands"),
    Export("thousands", _csv(lambda f: f.assign(Revenue=[f"{v:,}" for v in f["Revenue"]]))),
    Export("thousands and less", _csv(_shown(1000)), numbers=(), note="-> ", identified=False),
    Export(
        "open commas",
        _csv(_shown(1000), sep=";"),
        numbers=(),
        sentence="nothing else in the table decides",
        fix="--decimal '.'",
        identified=False,
    ),
    Export("index of pandas", _csv(index=True), note="numbers the rows"),
    Export("sorted by the target, with its index", _csv(_sorted, index=True), note="numbers the rows"),
    Export("shuffled, with its index", _csv(_shuffled, index=True), note="an index: distinct whole numbers"),
    Export("excel by pandas with its index", _excel(), note="numbers the rows"),
    Export("excel by pandas", _excel(index=False)),
    Export("excel with formats", _workbook()),
    Export(
        "excel with titles",
        _workbook(above=[["Customers 2024"], ["as of", "31.12.2024"], []]),
        note="3 rows above the header",
    ),
    Export("excel with grouped headers", _workbook(grouped=True), note="the row above the header"),
    Export("excel with a sheet of notes", _workbook(notes_first=True), note="sheet 'Customers' was read"),
    Export("excel with unnamed empty columns", _workbook(blank_columns=2)),
    Export(
        "titles padded with commas",
        _csv(before="Customers 2024,,,,,,,\nas of 31.12.2024,,,,,,,\n,,,,,,,\n"),
        note="lines above the header",
    ),
    Export(
        "titles padded with semicolons",
        _csv(_texts, before="Kunden 2024;;;;;;;\n", sep=";"),
        note="the line above the header",
    ),
    Export("grouped headers", _csv(before=_GROUPS), note="the line above the header"),
    Export(
        "a preface of several fields",
        _csv(before="Report,Customers,2024\nBy,Controlling,Ms Ruiz\n\n"),
        note="lines above the header",
    ),
    Export("empty columns at the end", _csv(lambda f: f.assign(**{"": None, " ": None}))),
    Export("files with other orders", _several([lambda c: c, lambda c: c[::-1], lambda c: c[3:] + c[:3]])),
    Export(
        "a file that lacks a column",
        _several([lambda c: c, lambda c: [name for name in c if name != "Fee"]]),
        numbers=("Months", "Revenue"),
        note="lacks the column 'Fee', which is not used",
    ),
    Export(
        "groups of columns named in each cell",
        _csv(before=",Customer,Customer,Contract,Contract,Contract,Contract,Contract\n", index=True),
        sentence="if that line has the names",
        fix="--header-line",
        note="numbers the rows",
    ),
    Export("blanks before quotes", _blanks_before_quotes),
    Export(
        "the end of a report",
        _csv(after='\n"Customers 2024"\n"Generated By: J. Ruiz, 12/31/2024"\n'),
        note="the 2 lines below the table ('Customers 2024') are not part of the table",
    ),
    Export("a line of totals", _csv(after=",,7000,12000.50,600000,,,\n"), note="no 'Churned'"),
    Export("packed", _gz),
    Export("json lines", _json_lines),
    Export("parquet with an index", _indexed_parquet),
    Export("true and false", _csv(lambda f: f.assign(Churned=f["Churned"] == "yes"))),
    Export(
        "labels in two cases", _csv(_capital_labels), note="differ in upper and lower case only: 'Yes', 'yes'"
    ),
    Export("a price as target", _csv(_us), "Revenue", (), sentence="amounts such as", fix="--bins"),
    Export("an amount as target", _csv(), "Fee", (), sentence="numbers with fractions", fix="--bins"),
    Export("a percentage as target", _csv(_us), "Discount", (), sentence="percentages", fix="--bins"),
    Export("an age as target", _csv(), "Months", (), sentence="different numbers in", fix="--bins"),
)
