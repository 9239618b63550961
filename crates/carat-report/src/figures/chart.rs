//! A chart as data: what is drawn, not how. Reports are made of these, and one renderer draws them all.

/// A row of panels with one title and one legend.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// CategoryNames of the series; a mark's `series` is a place in this list and decides its colour.
    pub series: Vec<String>,
    /// The panels, side by side where there is room.
    pub panels: Vec<ChartPanel>,
}

/// One pair of axes and what is drawn on them.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartPanel {
    /// Slots above it.
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
    /// Lowest and highest value; `None`: what the marks need.
    pub range: Option<(f64, f64)>,
    /// Powers of ten at equal distances. Values of 0 and below are not drawn.
    pub logarithmic: bool,
    /// CategoryNames of the values 0, 1, 2, ...; empty: an axis of numbers. The first stands on the left, or on top.
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

/// Something drawn. `tip` is shown when a reader points at it.
///
/// What is no number, or lies outside an axis, is not drawn; the panel says how many such marks there are. On a
/// horizontal axis of categories without lines, dots and intervals stand beside those of other series as bars do,
/// unless one of them is given a place between two categories.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// A dot.
    Dot {
        /// Where.
        at: (f64, f64),
        /// Which series.
        series: usize,
        /// In pixels.
        radius: f64,
        /// What pointing at it tells.
        tip: String,
    },
    /// A bar from 0, beside the bars of the other series at the same category.
    Bar {
        /// Category and height.
        at: (f64, f64),
        /// Which series.
        series: usize,
        /// What pointing at it tells.
        tip: String,
    },
    /// A line through points.
    Line {
        /// From left to right.
        points: Vec<(f64, f64)>,
        /// Which series.
        series: usize,
        /// What pointing at it tells.
        tip: String,
    },
    /// Minimum, quartiles and maximum, beside the boxes of the other series at the same category.
    Box {
        /// Category.
        at: f64,
        /// Minimum, first quartile, median, third quartile, maximum.
        values: [f64; 5],
        /// Which series.
        series: usize,
        /// What pointing at it tells.
        tip: String,
    },
    /// A vertical stroke from low to high: an interval.
    Interval {
        /// Where.
        at: f64,
        /// From and to.
        range: (f64, f64),
        /// Which series.
        series: usize,
        /// What pointing at it tells.
        tip: String,
    },
    /// A dashed line through points that is no series but something to compare with; the legend names it.
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
