//! A chart as data. One renderer draws all charts of reports.

/// A row of panels with one title and one legend.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// Names of the series. A mark's `series` is an index into this list and decides its colour.
    pub series: Vec<String>,
    /// The panels, side by side where they fit.
    pub panels: Vec<ChartPanel>,
}

/// One pair of axes and what is drawn on them.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartPanel {
    /// The heading above it.
    pub title: String,
    /// A short remark beside the title, such as a p value; may be empty.
    pub note: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Drawn in this order.
    pub marks: Vec<Mark>,
}

/// One axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// What it measures.
    pub label: String,
    /// Lowest and highest value; `None` for the range of the marks.
    pub range: Option<(f64, f64)>,
    /// Powers of ten at equal distances. Values of 0 and below are not drawn.
    pub logarithmic: bool,
    /// Names of the values 0, 1, 2, ..., starting at the left or at the top. Empty for an axis of numbers.
    pub categories: Vec<String>,
}

impl Axis {
    /// An axis of numbers whose range follows from the marks.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// An axis of categories, without a label.
    pub fn of_categories(categories: Vec<String>) -> Self {
        Self { categories, ..Self::default() }
    }
}

/// A mark. `tip` is its tooltip.
///
/// Marks that are not finite or lie outside an axis are not drawn; the panel shows their number. On a horizontal axis
/// of categories without lines, dots and intervals of several series are placed side by side like bars, unless one of
/// them lies between two categories.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// A dot.
    Dot {
        /// Its position.
        at: (f64, f64),
        /// Its series.
        series: usize,
        /// Its radius in pixels.
        radius: f64,
        /// Its tooltip.
        tip: String,
    },
    /// A bar from 0, beside the bars of the other series at the same category.
    Bar {
        /// Category and height.
        at: (f64, f64),
        /// Its series.
        series: usize,
        /// Its tooltip.
        tip: String,
    },
    /// A line through points.
    Line {
        /// From left to right.
        points: Vec<(f64, f64)>,
        /// Its series.
        series: usize,
        /// Its tooltip.
        tip: String,
    },
    /// Minimum, quartiles and maximum, beside the boxes of the other series at the same category.
    Box {
        /// Category.
        at: f64,
        /// Minimum, first quartile, median, third quartile, maximum.
        values: [f64; 5],
        /// Its series.
        series: usize,
        /// Its tooltip.
        tip: String,
    },
    /// A vertical stroke from low to high: an interval.
    Interval {
        /// Its horizontal position.
        at: f64,
        /// From and to.
        range: (f64, f64),
        /// Its series.
        series: usize,
        /// Its tooltip.
        tip: String,
    },
    /// A cell of a matrix, between two axes of categories. It grows darker with its share.
    Cell {
        /// The categories.
        at: (usize, usize),
        /// From 0 to 1.
        share: f64,
        /// What is written in it, where there is room.
        text: String,
        /// Its tooltip.
        tip: String,
    },
    /// A dashed reference line through points, which the legend names.
    Guide {
        /// From left to right.
        points: Vec<(f64, f64)>,
        /// Its name in the legend.
        name: String,
    },
    /// A dashed line where both axes have the same value.
    Diagonal,
    /// A dashed horizontal line with a short label.
    Level(f64, String),
}
