//! One panel: its header, its axes and its marks.

use super::chart::ChartPanel;
use super::layout::{LINE, Layout, SMALL, Y_TICKS};
use super::marks::Pen;
use super::scale::Scale;
use super::svg::Canvas;
use super::text::{shorten, width};

/// A panel as SVG elements, and a description for screen readers.
pub(super) fn draw(panel: &ChartPanel, layout: &Layout) -> (String, String) {
    let mut canvas = Canvas::default();
    let (x, y) = layout.scales(panel);
    header(&mut canvas, panel, layout);
    y_axis(&mut canvas, panel, layout, &y);
    x_axis(&mut canvas, panel, layout, &x);
    let mut pen = Pen::new(&mut canvas, panel, (x, y));
    panel.marks.iter().for_each(|mark| pen.draw(mark));
    let outside = pen.finish();
    let mut about = vec![panel.title.clone(), panel.note.clone()];
    about.push(format!("{} against {}", named(&panel.y.label), named(&panel.x.label)));
    about.push(format!("{} marks", canvas.marks()));
    if outside > 0 {
        let remark = format!("{outside} not drawn");
        canvas.text("remark end", (layout.right, layout.top + 8.0), &remark);
        about.push(remark);
    }
    about.retain(|part| !part.is_empty());
    (canvas.into_body(), about.join("; "))
}

fn named(label: &str) -> &str {
    if label.is_empty() { "values" } else { label }
}

fn header(canvas: &mut Canvas, panel: &ChartPanel, layout: &Layout) {
    let first = 13.0;
    for (line, text) in layout.title(panel).iter().enumerate() {
        canvas.text("title", (2.0, first + 16.0 * line as f64), text);
    }
    if layout.note_beside(panel) {
        if !panel.note.is_empty() {
            canvas.text("note end", (layout.right, first), &panel.note);
        }
    } else {
        let under = first + 16.0 * layout.title(panel).len() as f64 - 1.0;
        for (line, text) in layout.note_below(panel).iter().enumerate() {
            canvas.text("note", (2.0, under + LINE * line as f64), text);
        }
    }
    for (line, text) in layout.y_label(panel).iter().rev().enumerate() {
        canvas.text("label", (2.0, layout.top - 8.0 - LINE * line as f64), text);
    }
}

fn y_axis(canvas: &mut Canvas, panel: &ChartPanel, layout: &Layout, y: &Scale) {
    let (left, right) = (layout.left, layout.right);
    if panel.y.categories.is_empty() {
        for (value, text) in y.ticks(Y_TICKS) {
            let place = y.position(value);
            canvas.segment("grid", (left, place), (right, place));
            canvas.text("tick end", (left - 6.0, place + 4.0), &text);
        }
        let (low, high) = y.range();
        if low < 0.0 && high > 0.0 {
            canvas.segment("axis", (left, y.position(0.0)), (right, y.position(0.0)));
        }
        return;
    }
    // At most one name per line of text.
    let most = ((layout.bottom - layout.top) / LINE).max(1.0) as usize;
    for (place, name) in panel.y.categories.iter().enumerate().step_by(panel.y.categories.len().div_ceil(most).max(1)) {
        let place = y.position(place as f64);
        canvas.segment("grid", (left, place), (right, place));
        canvas.short_text("tick end", (left - 6.0, place + 4.0), &shorten(name, SMALL, left - 12.0), name, None);
    }
}

fn x_axis(canvas: &mut Canvas, panel: &ChartPanel, layout: &Layout, x: &Scale) {
    let base = layout.bottom;
    canvas.segment("axis", (layout.left, base), (layout.right, base));
    if panel.x.categories.is_empty() {
        for (value, text) in number_ticks(x, layout) {
            canvas.segment("axis", (x.position(value), base), (x.position(value), base + 4.0));
            canvas.text("tick middle", (middle(x, value, &text, layout), base + 17.0), &text);
        }
    } else {
        let names = layout.names(panel);
        for (place, name) in panel.x.categories.iter().enumerate().step_by(names.every) {
            let (place, shown) = (x.position(place as f64), shorten(name, SMALL, names.max_width));
            canvas.segment("axis", (place, base), (place, base + 4.0));
            match names.turn {
                None => canvas.short_text("tick middle", (place, base + 17.0), &shown, name, None),
                Some(turn) => canvas.short_text("tick end", (place + 4.0, base + 13.0), &shown, name, Some(turn)),
            }
        }
    }
    for (line, text) in layout.x_label(panel).iter().rev().enumerate() {
        let place = ((layout.left + layout.right) / 2.0, layout.height - 5.0 - LINE * line as f64);
        // A label that is wider than the axis is centred in the panel, where it fits.
        let fits = width(text, SMALL) <= 2.0 * (layout.width - place.0);
        canvas.text("label middle", if fits { place } else { (layout.width / 2.0, place.1) }, text);
    }
}

/// As many round values as fit side by side.
fn number_ticks(x: &Scale, layout: &Layout) -> Vec<(f64, String)> {
    let apart = |pair: &[(f64, String)]| match pair {
        [one, other] => {
            let needed = (width(&one.1, SMALL) + width(&other.1, SMALL)) / 2.0 + 8.0;
            middle(x, other.0, &other.1, layout) - middle(x, one.0, &one.1, layout) >= needed
        }
        _ => true,
    };
    let fitting = (1..=7).rev().map(|count| x.ticks(count)).find(|ticks| ticks.windows(2).all(apart));
    fitting.unwrap_or_else(|| x.ticks(1).into_iter().take(1).collect())
}

/// The centre of a tick's text: below the tick, but inside the panel.
fn middle(x: &Scale, value: f64, text: &str, layout: &Layout) -> f64 {
    let half = width(text, SMALL) / 2.0;
    x.position(value).min(layout.width - half).max(half)
}
