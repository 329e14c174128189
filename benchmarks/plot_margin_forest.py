"""The figures of docs/margin-forest.md, as plain SVG, from the data of the papers' figures.

    python -m benchmarks.plot_margin_forest --data satimage --n-estimators 30

Figure A: accuracy and margin ratio a layer. Figure B: t-SNE of what an early and a late layer read. Needs
SUREWOOD_DATA.
"""

from pathlib import Path

import numpy as np

from benchmarks.study_files import option_parser
from papers.datasets import load
from papers.mddf.figures import representation_view
from surewood import MarginDeepForestClassifier

FOLDER = Path(__file__).parent.parent / "docs" / "images"
COLOURS = ("#3366cc", "#dc3912", "#ff9900", "#109618", "#990099", "#0099c6", "#dd4477", "#66aa00", "#b82e2e")


def panel(x0, y0, width, height, title, lines):
    """A small line chart: `lines` is a list of (name, values, colour)."""
    values = np.concatenate([v for _, v, _ in lines])
    low, high = float(values.min()), float(values.max())
    pad = 0.1 * (high - low or 1.0)
    low, high = low - pad, high + pad
    longest = max(len(v) for _, v, _ in lines)

    def place(i, value):
        return (
            x0 + width * (i + 0.5) / longest,
            y0 + height * (high - value) / (high - low),
        )

    parts = [
        f'<rect x="{x0}" y="{y0}" width="{width}" height="{height}" fill="none" stroke="#999"/>',
        f'<text x="{x0}" y="{y0 - 8}" font-size="13">{title}</text>',
    ]
    for label, value in ((f"{high:.3g}", high), (f"{low:.3g}", low)):
        parts.append(f'<text x="{x0 - 6}" y="{place(0, value)[1] + 4}" text-anchor="end">{label}</text>')
    for i in range(longest):
        parts.append(
            f'<text x="{place(i, low)[0]}" y="{y0 + height + 15}" text-anchor="middle">{i + 1}</text>'
        )
    for number, (name, series, colour) in enumerate(lines):
        points = [place(i, v) for i, v in enumerate(series)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        parts.append(
            f'<text x="{x0 + width - 6}" y="{y0 + height - 8 - 15 * number}" fill="{colour}" '
            f'text-anchor="end">{name}</text>'
        )
    return parts


def scatter(x0, y0, size, title, points, labels):
    low, span = points.min(axis=0), np.ptp(points, axis=0)
    scaled = (points - low) / np.where(span > 0, span, 1.0)
    parts = [
        f'<rect x="{x0}" y="{y0}" width="{size}" height="{size}" fill="none" stroke="#999"/>',
        f'<text x="{x0}" y="{y0 - 8}" font-size="13">{title}</text>',
    ]
    _, codes = np.unique(labels, return_inverse=True)
    for (x, y), code in zip(scaled, codes):
        colour = COLOURS[code % len(COLOURS)]
        parts.append(
            f'<circle cx="{x0 + 6 + (size - 12) * x:.0f}" cy="{y0 + 6 + (size - 12) * y:.0f}" r="1.6" '
            f'fill="{colour}"/>'
        )
    return parts


def write(name, width, height, parts):
    FOLDER.mkdir(exist_ok=True)
    body = "\n".join(parts)
    text = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="11">\n<rect width="100%" height="100%" fill="white"/>\n'
        f"{body}\n</svg>\n"
    )
    (FOLDER / name).write_text(text)
    print(f"docs/images/{name}")


def main():
    parser = option_parser(__doc__)
    parser.add_argument("--data", default="satimage")
    parser.add_argument("--n-estimators", type=int, default=30)
    parser.add_argument("--points", type=int, default=600)
    arguments = parser.parse_args()
    data = load(arguments.data)
    X, y = data.train
    model = MarginDeepForestClassifier(
        arguments.n_estimators,
        max_layers=5,
        study={"keep_held_out": True},
        n_jobs=-1,
        random_state=0,
    ).fit(X, y)
    curves = model.layer_table(*data.test)
    held, new = "#3366cc", "#dc3912"
    accuracy = [("held out", 100 * np.array(curves["held_out_accuracy"]), held)]
    accuracy.append(("test", 100 * np.array(curves["accuracy"].dropna()), new))
    ratio = [("held out", np.array(curves["held_out_margin_ratio"]), held)]
    ratio.append(("test", np.array(curves["margin_ratio"].dropna()), new))
    parts = panel(60, 40, 280, 180, f"{arguments.data}: accuracy (%) a layer", accuracy)
    parts += panel(420, 40, 280, 180, "margin ratio a layer (heuristic)", ratio)
    write("margin-forest-layers.svg", 720, 260, parts)
    last = len(model.staged_held_out_scores_) + 1
    views = [representation_view(model, X, y, k, max_points=arguments.points) for k in (2, last)]
    parts = []
    for number, (layer, view) in enumerate(zip((2, last), views)):
        ratios = f"{view.view_ratio:.2f} here, {view.original_ratio:.2f} before"
        title = f"input of layer {layer}: ratio (4.8) {ratios}"
        parts += scatter(20 + 360 * number, 40, 330, title, view.points, np.asarray(y)[view.rows])
    write("margin-forest-views.svg", 740, 390, parts)


if __name__ == "__main__":
    main()
