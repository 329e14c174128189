"""Writes the small messy tables of this folder: ``python -m tests.tables.messy.make_files``.

Each has 30 rows, a clean column ``size`` with a decimal point (where the file is not German) and a target
``label``. What must be found in them is in expected.toml, written by hand.
"""

import bz2
import gzip
import io
import zipfile
from datetime import date, timedelta
from pathlib import Path

import pandas as pd
import pyarrow as pa

FOLDER = Path(__file__).parent / "files"
N = 30
SIZES = [round(0.5 + (7 * k % 30) / 4 + 0.01 * k, 2) for k in range(N)]
LABELS = ["big" if size > 4.2 else "small" for size in SIZES]
DAYS = [date(2023, 1, 5) + timedelta(days=13 * k) for k in range(N)]


def cycle(*values):
    return [values[k % len(values)] for k in range(N)]


def grouped(k, mark=","):
    """Whole numbers of four or five digits with a thousands mark."""
    return f"{1017 + 1013 * k:,}".replace(",", mark)


def quoted(value, sep):
    text = str(value)
    special = sep in text or '"' in text or "\n" in text
    return '"' + text.replace('"', '""') + '"' if special else text


def text_table(columns, sep=",", size=True, labels=None, decimal="."):
    """A table as text."""
    named = dict(columns)
    if size:
        named["size"] = [str(value).replace(".", decimal) for value in SIZES]
    named["label"] = LABELS if labels is None else labels
    lines = [sep.join(quoted(name, sep) for name in named)]
    lines += [sep.join(quoted(column[k], sep) for column in named.values()) for k in range(N)]
    return "\n".join(lines) + "\n"


def write(name, content, encoding="utf-8"):
    raw = content if isinstance(content, bytes) else content.encode(encoding)
    (FOLDER / name).write_bytes(raw)


def numbers():
    some = [3 + (11 * k) % 40 for k in range(N)]
    write("thousands_comma.csv", text_table({"price": [grouped(k) for k in range(N)]}))
    write("thousands_open.csv", text_table({"price": [grouped(k) for k in range(N)]}, size=False))
    write("thousands_settled.csv", text_table({"price": [grouped(k) for k in range(N)]}, size=False))
    german = [f"{grouped(k, '.')},{50 + k}" for k in range(N)]
    write("german.csv", text_table({"preis": german}, sep=";", decimal=","))
    write(
        "german_whole.csv", text_table({"preis": [grouped(k, ".") for k in range(N)]}, sep=";", decimal=",")
    )
    write("swiss.csv", text_table({"price": [f"{grouped(k, chr(39))}.50" for k in range(N)]}))
    write(
        "french.csv", text_table({"prix": [f"{grouped(k, chr(160))},50" for k in range(N)]}, ";", decimal=",")
    )
    write("indian.csv", text_table({"price": [f"{k + 1},23,{456 + k}" for k in range(N)]}))
    write("dollars.csv", text_table({"price": [f"${grouped(k)}.50" for k in range(N)]}))
    write("euros.csv", text_table({"preis": [f"{one} €" for one in german]}, sep=";", decimal=","))
    write("currency_codes.csv", text_table({"price": [f"USD {value}.50" for value in some]}))
    write("percent.csv", text_table({"rate": [f"{value}%" for value in some]}))
    write("percent_blank.csv", text_table({"rate": [f"{value}.5 %" for value in some]}))
    brackets = [f"({value},017.50)" if k % 3 else f"{value}.25" for k, value in enumerate(some)]
    write("accounting.csv", text_table({"balance": brackets}))
    write(
        "minus_behind.csv",
        text_table({"balance": [f"{v}-" if k % 2 else f"{v}" for k, v in enumerate(some)]}),
    )
    write("units.csv", text_table({"weight": [f"{value} kg" for value in some]}))
    write("units_attached.csv", text_table({"way": [f"{value}.5km" for value in some]}))
    limits = ["<50" if k % 7 == 1 else ">90" if k % 7 == 2 else str(50 + v) for k, v in enumerate(some)]
    write("limits.csv", text_table({"level": limits}))
    write("multipliers.csv", text_table({"pay": [f"${v}.5{'kM'[k % 2]}" for k, v in enumerate(some)]}))
    write("scientific.csv", text_table({"level": [f"{value}.5e-3" for value in some]}))
    write("padded_numbers.csv", text_table({"level": [f" {value} " for value in some]}))
    write("plus_signs.csv", text_table({"change": [f"{'+-'[k % 2]}{v}.5" for k, v in enumerate(some)]}))
    write(
        "unicode_minus.csv",
        text_table({"change": [f"{'−' if k % 2 else ''}{v}.5" for k, v in enumerate(some)]}),
    )
    write("one_typo.csv", text_table({"level": ["abc" if k == 9 else v for k, v in enumerate(some)]}))
    write("minus_999.csv", text_table({"level": ["-999" if k % 10 == 3 else v for k, v in enumerate(some)]}))
    write("zip_zeros.csv", text_table({"zip": cycle("01067", "04109", "10115", "80331")}))
    write("zip_numbers.csv", text_table({"zip": cycle("10115", "80331", "50667")}))
    write("versions.csv", text_table({"version": cycle("1.2.3", "1.2.10", "2.0.1")}))


def missing_codes():
    some = [f"{3 + (11 * k) % 40}.5" for k in range(N)]
    codes = {
        "question_mark": ["?"],
        "dashes": ["-", "--"],
        "dot_and_star": [".", "*"],
        "excel_errors": ["#DIV/0!", "#N/A", "#VALUE!"],
        "words": ["unknown", "none", "N/A"],
        "nulls": ["null", "NULL", "NaN", "NA"],
        "blank": ["", " "],
    }
    for name, found in codes.items():
        level = [found[(k // 10) % len(found)] if k % 10 == 4 else value for k, value in enumerate(some)]
        write(f"missing_{name}.csv", text_table({"level": level}))
    city = ["-" if k % 10 == 4 else value for k, value in enumerate(cycle("Rome", "Oslo", "Bern"))]
    write("missing_city.csv", text_table({"city": city}))
    write("plus_minus.csv", text_table({"test": cycle("+", "-", "+", "+")}))
    write("category_none.csv", text_table({"pool": cycle("none", "small", "large")}))


def booleans():
    write("yes_no.csv", text_table({"active": cycle("yes", "no", "yes")}))
    write("true_false.csv", text_table({"active": cycle("TRUE", "False", "true", "FALSE")}))
    write("y_n_unknown.csv", text_table({"active": cycle("Y", "N", "unknown", "Y", "N")}))
    write("ja_nein.csv", text_table({"aktiv": cycle("ja", "nein ", "Ja")}))


def dates():
    def day_column(name, form, **options):
        write(name, text_table({"day": [d.strftime(form) for d in DAYS]}, **options))

    day_column("dates_iso.csv", "%Y-%m-%d")
    day_column("dates_slashes.csv", "%Y/%m/%d")
    day_column("dates_german.csv", "%d.%m.%Y")
    day_column("dates_german_short.csv", "%d.%m.%y")
    day_column("dates_us.csv", "%m/%d/%Y")
    day_column("dates_uk.csv", "%d/%m/%Y")
    day_column("dates_dashes.csv", "%d-%m-%Y")
    day_column("dates_month_name.csv", "%b %d, %Y")
    day_column("dates_day_month_name.csv", "%d %B %Y")
    day_column("dates_compact.csv", "%Y%m%d")
    day_column("dates_time.csv", "%Y-%m-%d 14:30:00")
    day_column("dates_zone.csv", "%Y-%m-%dT14:30:00+02:00")
    day_column("dates_pm.csv", "%m/%d/%Y 9:15 PM")
    months = [
        "Januar",
        "Februar",
        "März",
        "April",
        "Mai",
        "Juni",
        "Juli",
        "August",
        "September",
        "Oktober",
        "November",
        "Dezember",
    ]
    write(
        "dates_german_name.csv",
        text_table({"day": [f"{d.day}. {months[d.month - 1]} {d.year}" for d in DAYS]}),
    )
    early = [f"{1 + k % 12}/{1 + k % 11}/2023" for k in range(N)]
    write("dates_open.csv", text_table({"day": early}))
    write("dates_settled.csv", text_table({"day": early, "paid": [d.strftime("%d/%m/%Y") for d in DAYS]}))
    forms = cycle("%Y-%m-%d", "%d.%m.%Y", "%b %d, %Y")
    write("dates_mixed.csv", text_table({"day": [d.strftime(form) for d, form in zip(DAYS, forms)]}))
    write(
        "dates_invalid.csv",
        text_table({"day": ["2023-02-30" if k == 5 else str(d) for k, d in enumerate(DAYS)]}),
    )
    write("durations_clock.csv", text_table({"took": [f"{1 + k % 5}:{10 + k}:05" for k in range(N)]}))
    write("durations_words.csv", text_table({"took": [f"{k % 3 + 1} h {k + 5} min" for k in range(N)]}))
    write("time_of_day.csv", text_table({"at": [f"{6 + k % 12}:{10 + k}" for k in range(N)]}))


def words():
    write(
        "identifier.csv",
        text_table({"code": [f"K-{k:05}-{'abc'[k % 3]}{k}" for k in range(N)]} | {"n": cycle(1, 5)}),
    )
    write("index_column.csv", text_table({"": list(range(N))}))
    write("customer_id.csv", text_table({"customer_id": [7919 * k % 1009 + 5000 for k in range(N)]}))
    write("padded_city.csv", text_table({"city": cycle("Rome", "Rome ", " Oslo", "Oslo")}))
    write(
        "padded_labels.csv",
        text_table({}, labels=[f" {v}" if k % 4 == 1 else v for k, v in enumerate(LABELS)]),
    )
    write("missing_labels.csv", text_table({}, labels=["?" if k == 3 else v for k, v in enumerate(LABELS)]))
    write("rare_label.csv", text_table({}, labels=["huge" if k == 3 else v for k, v in enumerate(LABELS)]))
    write("constant_and_empty.csv", text_table({"country": cycle("DE"), "nothing": cycle("")}))
    write("header_blanks.csv", text_table({" city ": cycle("Rome", "Oslo")}))
    write("header_comma.csv", text_table({"city, country": cycle("Rome", "Oslo")}))
    about = [f"the {a} was {b} and came {k} days late" for k, (a, b) in
             enumerate(zip(cycle("table", "chair", "lamp"), cycle("broken", "fine")))]  # fmt: skip
    write(
        "free_text.csv",
        text_table({"note": [f"{one} in box {7 * k}" for k, one in enumerate(about * 2)][:N]}),
    )
    write("free_text_long.csv", long_text())


def long_text():
    """Sixty rows: with fewer, texts are categories."""
    rows = [
        f"the {'chair' if k % 2 else 'lamp'} in box {k} came late,{k % 7}.5,{'ab'[k % 2]}" for k in range(60)
    ]
    return "\n".join(["note,size,label", *rows]) + "\n"


def formats():
    table = {"price": [grouped(k) for k in range(N)], "city": cycle("Rome", "Oslo", "Ürümqi")}
    text = text_table(table)
    write("plain.tsv", text_table(table, sep="\t"))
    write("bars.txt", text_table(table, sep="|"))
    write("semicolons.csv", text_table(table, sep=";"))
    write("white_space.txt", text_table({"city": table["city"]}, sep="   "))
    write("packed.csv.gz", gzip.compress(text.encode(), mtime=0))
    write("packed.csv.bz2", bz2.compress(text.encode()))
    write("packed.csv.zst", pa.Codec("zstd").compress(text.encode(), asbytes=True))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(zipfile.ZipInfo("table.csv"), text)
    write("packed.zip", packed.getvalue())
    write("mark.csv", text, encoding="utf-8-sig")
    write("utf16.csv", text, encoding="utf-16")
    write("latin1.csv", text, encoding="latin-1")
    write("carriage_returns.csv", text.replace("\n", "\r"))
    write("windows_lines.csv", text.replace("\n", "\r\n"))
    write("blank_lines.csv", "\n\n" + text.replace("\n", "\n\n"))
    write("sep_line.csv", "sep=;\n" + text_table(table, sep=";"))
    write("line_breaks.csv", text_table(table | {"address": cycle("Via Roma 1\nRome", "Oslo")}))
    write("inch_mark.csv", text.replace("Oslo", 'Oslo 5" b', 1))
    frame = pd.read_csv(io.StringIO(text))
    frame.to_parquet(FOLDER / "table.parquet")
    frame.to_feather(FOLDER / "table.feather")
    frame.to_excel(FOLDER / "table.xlsx", index=False)
    frame.to_json(FOLDER / "table.jsonl", orient="records", lines=True)


def exports():
    """As programs and people export them."""
    table = {"price": [str(1017 + 1013 * k) for k in range(N)], "city": cycle("Rome", "Oslo", "Bern")}
    text = text_table(table)
    write("comments.txt", "# made by labtool 3.1\n# operator: Smith, J.\n#\n" + text)
    write("hash_header.txt", "#" + text)
    tabs = "".join(f"\t{line}\n" for line in text_table(table, sep="\t").splitlines())
    write("titles.txt", "Table: VBAK\nDisplayed fields: 4 of 4\n\n" + tabs)
    marge = [f"{1017 + 1013 * k:,}.50".translate(str.maketrans(",.", ".,")) + "-"[k % 2 :] for k in range(N)]
    cells = zip(["Marge", *marge], ["size", *(str(v).replace(".", ",") for v in SIZES)], ["label", *LABELS])
    rows = [f"|{a:>12}|{b:>6}|{c:<6}|" for a, b, c in cells]
    rule = "-" * 30
    write("drawn.txt", "\n".join([rule, rows[0], rule, *rows[1:], rule]) + "\n", encoding="cp1252")
    quotes = [f'"{name}" "New {city}"' for name, city in zip(table["price"], table["city"])]
    r_rows = [f'"{k + 1}" {quotes[k]} {SIZES[k]} "{LABELS[k]}"' for k in range(N)]
    write("r_table.txt", "\n".join(['"price" "city" "size" "label"', *r_rows]) + "\n")
    first, *others = text_table(table, sep=";").splitlines()
    write("separator_at_the_end.txt", "\n".join([first, *(f"{line};" for line in others)]) + "\n")
    ends = ("\n", "\r\n")
    write("mixed_ends.txt", "".join(f"{line}{ends[k % 2]}" for k, line in enumerate(text.splitlines())))
    said = {
        "city": cycle("\u201eRome\u201c", "it\u2019s Oslo"),
        "price": [f"{1017 + 1013 * k:,},5".replace(",", "\u00a0", 1) for k in range(N)],
    }
    write("typographic_quotes.csv", text_table(said, sep=";", decimal=","), encoding="cp1252")
    write(
        "stata.csv",
        text_table(
            {
                "income": cycle(*map(str, range(300, 340, 2)), ".", ".a"),
                "day": [f"{d:%d%b%Y}".lower() for d in DAYS],
            }
        ),
    )
    write("mysql.tsv", text_table({"price": cycle("\\N", *table["price"][:20])}, sep="\t"))
    write(
        "weeks.csv", text_table({"week": [f"{d.isocalendar()[0]}-W{d.isocalendar()[1]:02d}" for d in DAYS]})
    )
    write("quarters.csv", text_table({"quarter": [f"{d.year}-Q{(d.month + 2) // 3}" for d in DAYS]}))
    write(
        "scientific_comma.txt",
        text_table({"dose": [f"{k + 1.5:.2E}".replace(".", ",") for k in range(N)]}, sep=";", decimal=","),
    )
    write("wahr_falsch.txt", text_table({"aktiv": cycle("WAHR", "FALSCH")}, sep=";", decimal=","))
    write(
        "kundennummer.csv",
        text_table({"Kundennummer": [40_000_000 + 7_919 * (k * k % 97) * 31 + k for k in range(N)]}),
    )


def bad_files():
    text = text_table({"city": cycle("Rome", "Oslo", "Köln")})
    lines = text.splitlines()
    write("bad_long_line.csv", "\n".join([*lines[:6], lines[6] + ",7", *lines[7:]]) + "\n")
    write("bad_short_line.csv", "\n".join([*lines[:8], "Rome", *lines[9:]]) + "\n")
    write("bad_second_header.csv", "\n".join([lines[0], *lines]) + "\n")
    write(
        "bad_units_line.csv",
        "\n".join(["length,size,label", "cm,kg,", *(f"{k},{k}.5,a" for k in range(9))]) + "\n",
    )
    write("bad_page.csv", "<!DOCTYPE html>\n<html><body>not found</body></html>\n")
    write("bad_workbook.csv", (FOLDER / "table.xlsx").read_bytes())
    write("bad_parquet.csv", (FOLDER / "table.parquet").read_bytes())
    write("bad_target.csv", text_table({"city": cycle("Rome", "Oslo")}, labels=cycle("", "NA")))
    mixed = [line.encode("latin-1" if k == 12 else "utf-8") for k, line in enumerate(lines)]
    write("bad_encodings.csv", b"\n".join(mixed) + b"\n")
    write("bad_quote.csv", "\n".join([*lines[:9], '"' + lines[9], *lines[10:]]) + "\n")
    write("bad_empty.csv", "")
    write("bad_twice.csv", text.replace("city,", "size,", 1))
    write("bad_line.jsonl", '{"a": 1, "label": "x"}\n{"a": 2, \n')


def main():
    FOLDER.mkdir(exist_ok=True)
    for make in (numbers, missing_codes, booleans, dates, words, formats, exports, bad_files):
        make()


if __name__ == "__main__":
    main()
