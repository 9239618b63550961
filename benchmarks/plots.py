"""Log-log plots as SVG, by hand: readable on light and dark pages, no dependency."""

import math
from html import escape

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 78, 238, 46, 58
# Colours that keep apart on white and on near-black, and for readers who confuse red and green.
COLOURS = {"light": ("#0b62c4", "#c2410c", "#0f766e"), "dark": ("#6cb2ff", "#ff9a62", "#4fd1b5")}
MARKS = ("circle", "square", "triangle")


def style():
    """Colours by the reader's scheme."""

    def scheme(text, faint, grid, background, colours):
        lines = [f".text{{fill:{text}}}.faint{{fill:{faint}}}.grid{{stroke:{grid}}}.ground{{fill:{background}}}"]
        lines += [
            f".line{n}{{stroke:{colour}}}.mark{n}{{fill:{colour};stroke:{colour}}}" for n, colour in enumerate(colours)
        ]
        # A hollow mark is filled with the ground, so that its own line does not show in it.
        return "".join([*lines, f".hollow{{fill:{background}}}"])

    light = scheme("#1f2328", "#59636e", "#d1d9e0", "#ffffff", COLOURS["light"])
    dark = scheme("#f0f6fc", "#9198a1", "#3d444d", "#0d1117", COLOURS["dark"])
    fonts = "text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;font-size:13px}"
    title = ".title{font-size:15px;font-weight:600}"
    return f"<style>{fonts}{title}{light}@media(prefers-color-scheme:dark){{{dark}}}</style>"


def number(value):
    """A tick's label: 0.05, 2, 1,000, and powers of ten from ten thousand up."""
    exponent = round(math.log10(value))
    if exponent >= 4 and math.isclose(value, 10.0**exponent, rel_tol=1e-9):
        return "10" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(exponent))
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def ticks(low, high):
    """Round values from low to high: powers of ten, with 2 and 5 between them where there are few of those."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)

    def within(values):
        return [value for value in values if low * 0.999 <= value <= high * 1.001]

    tens = within([10.0**decade for decade in decades])
    return tens if len(tens) >= 3 else within([factor * 10.0**decade for decade in decades for factor in (1, 2, 5)])


def mark(shape, x, y, css, hollow):
    classes = f"{css} hollow" if hollow else css
    common = f'class="{classes}" stroke-width="1.6"'
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" {common}/>'
    if shape == "square":
        return f'<rect x="{x - 3.6:.1f}" y="{y - 3.6:.1f}" width="7.2" height="7.2" {common}/>'
    return f'<path d="M{x:.1f} {y - 4.8:.1f}l4.6 8.2h-9.2z" {common}/>'


def log_log(title, x_label, y_label, legend, series, x_ticks=None):
    """An SVG document. A series is (name, points, colour number 0 to 2, dashed); points are (x, y), all above 0."""
    points = [point for _, some, _, _ in series for point in some]
    if not points:
        raise ValueError(f"'{title}' has no points to draw")
    x_low, x_high = min(x for x, _ in points), max(x for x, _ in points)
    y_low, y_high = min(y for _, y in points), max(y for _, y in points)
    # Room above and below, and a range of some width where all values are alike.
    y_low, y_high = y_low / 1.35, y_high * 1.35
    if x_low == x_high:
        x_low, x_high = x_low / 2, x_high * 2
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def place(value, low, high, start, end):
        return start + (math.log(value) - math.log(low)) / (math.log(high) - math.log(low)) * (end - start)

    def across(x):
        # A little room beside the first and the last point.
        return place(x, x_low, x_high, LEFT + 14, right - 14)

    def up(y):
        return place(y, y_low, y_high, bottom, TOP)

    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">']
    parts += [f"<title>{escape(title)}</title>", style(), f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>']
    parts.append(f'<text class="text title" x="{LEFT}" y="26">{escape(title)}</text>')
    for y in ticks(y_low, y_high):
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{up(y):.1f}" y2="{up(y):.1f}"/>')
        parts.append(f'<text class="faint" x="{LEFT - 8}" y="{up(y) + 4.5:.1f}" text-anchor="end">{number(y)}</text>')
    for x in x_ticks or ticks(x_low, x_high):
        parts.append(f'<line class="grid" x1="{across(x):.1f}" x2="{across(x):.1f}" y1="{TOP}" y2="{bottom}"/>')
        parts.append(
            f'<text class="faint" x="{across(x):.1f}" y="{bottom + 19}" text-anchor="middle">{number(x)}</text>'
        )
    middle = (LEFT + right) / 2
    parts.append(f'<text class="text" x="{middle:.0f}" y="{HEIGHT - 14}" text-anchor="middle">{escape(x_label)}</text>')
    centre = (TOP + bottom) / 2
    turned = f'transform="rotate(-90 20 {centre:.0f})"'
    parts.append(f'<text class="text" x="20" y="{centre:.0f}" text-anchor="middle" {turned}>{escape(y_label)}</text>')
    parts.append(f'<text class="faint" x="{right + 16}" y="{TOP + 6}">{escape(legend)}</text>')
    for row, (name, some, colour, dashed) in enumerate(series):
        dash = ' stroke-dasharray="6 4"' if dashed else ""
        line = f'class="line{colour}" fill="none" stroke-width="2"{dash}'
        path = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in some)
        parts.append(f'<polyline {line} points="{path}"/>')
        parts += [mark(MARKS[colour], across(x), up(y), f"mark{colour}", dashed) for x, y in some]
        y = TOP + 30 + 24 * row
        parts.append(f'<line {line} x1="{right + 16}" x2="{right + 46}" y1="{y}" y2="{y}"/>')
        parts.append(mark(MARKS[colour], right + 31, y, f"mark{colour}", dashed))
        parts.append(f'<text class="text" x="{right + 54}" y="{y + 4.5}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
