//! Charts, drawn as SVG: rows of small panels that stand in one column on a phone and side by side on a desktop, so
//! that text keeps its size.
//!
//! [`Chart`] says what is drawn. The road to a picture: `fit` finds the values that the axes span, `layout` the room of
//! every part, `scale` the places of values, `marks` and `panel` draw onto `svg`, `render` makes the figure of a page
//! and `sheet` a file of its own. Colours are classes that `chart.css` fills in, for light and dark.

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
