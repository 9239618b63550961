//! Charts as SVG: rows of small panels, in one column on a phone and side by side on a desktop, so that text keeps its
//! size.
//!
//! A [`Chart`] is data. To draw it, `ranges` finds the values that the axes span, `layout` the size of every part, and
//! `scale` the positions of values. `marks` and `panel` draw on the canvas of `svg`, `render` makes the figure of a
//! page, and `file` an SVG file. Colours are classes whose light and dark values are in `chart.css`.

mod chart;
mod file;
mod layout;
mod marks;
mod panel;
mod ranges;
mod render;
mod scale;
mod svg;
mod text;

pub use chart::{Axis, Chart, ChartPanel, Mark};
pub use render::STYLE;
pub use scale::extent;
