//! The headers of Parquet files, from `parquet.thrift`: the footer (`FileMetaData`) and `PageHeader`.
//!
//! The Parquet library skips the fields that are not listed.

/// The type of a field.
pub(super) enum Wire {
    Bool,
    Byte,
    /// Of 16, 32 or 64 bits.
    Integer,
    Double,
    /// Bytes or text.
    Binary,
    List(&'static Wire),
    Struct(Fields),
}

/// Fields by their number.
pub(super) type Fields = &'static [(i16, Wire)];

use Wire::{Binary, Bool, Byte, Double, Integer, List, Struct};

const STATISTICS: Fields =
    &[(1, Binary), (2, Binary), (3, Integer), (4, Integer), (5, Binary), (6, Binary), (7, Bool), (8, Bool)];

/// The header of a page: of data, of a dictionary, or of data in the second version.
pub(super) const PAGE: Fields = &[
    (1, Integer),
    (2, Integer),
    (3, Integer),
    (4, Integer),
    (5, Struct(&[(1, Integer), (2, Integer), (3, Integer), (4, Integer), (5, Struct(STATISTICS))])),
    (6, Struct(&[])),
    (7, Struct(&[(1, Integer), (2, Integer), (3, Bool)])),
    (
        8,
        Struct(&[
            (1, Integer),
            (2, Integer),
            (3, Integer),
            (4, Integer),
            (5, Integer),
            (6, Integer),
            (7, Bool),
            (8, Struct(STATISTICS)),
        ]),
    ),
];

const EMPTY: Wire = Struct(&[]);

const TIME: Wire = Struct(&[(1, Bool), (2, Struct(&[(1, EMPTY), (2, EMPTY), (3, EMPTY)]))]);

const LOGICAL_TYPE: Fields = &[
    (1, EMPTY),
    (2, EMPTY),
    (3, EMPTY),
    (4, EMPTY),
    (5, Struct(&[(1, Integer), (2, Integer)])),
    (6, EMPTY),
    (7, TIME),
    (8, TIME),
    (10, Struct(&[(1, Byte), (2, Bool)])),
    (11, EMPTY),
    (12, EMPTY),
    (13, EMPTY),
    (14, EMPTY),
    (15, EMPTY),
    (16, Struct(&[(1, Byte)])),
    (17, Struct(&[(1, Binary)])),
    (18, Struct(&[(1, Binary), (2, Integer)])),
];

const SCHEMA_ELEMENT: Fields = &[
    (1, Integer),
    (2, Integer),
    (3, Integer),
    (4, Binary),
    (5, Integer),
    (6, Integer),
    (7, Integer),
    (8, Integer),
    (9, Integer),
    (10, Struct(LOGICAL_TYPE)),
];

const KEY_VALUES: Wire = List(&Struct(&[(1, Binary), (2, Binary)]));

const BOUNDING_BOX: Fields =
    &[(1, Double), (2, Double), (3, Double), (4, Double), (5, Double), (6, Double), (7, Double), (8, Double)];

const COLUMN: Fields = &[
    (1, Integer),
    (2, List(&Integer)),
    (3, List(&Binary)),
    (4, Integer),
    (5, Integer),
    (6, Integer),
    (7, Integer),
    (8, KEY_VALUES),
    (9, Integer),
    (10, Integer),
    (11, Integer),
    (12, Struct(STATISTICS)),
    (13, List(&Struct(&[(1, Integer), (2, Integer), (3, Integer)]))),
    (14, Integer),
    (15, Integer),
    (16, Struct(&[(1, Integer), (2, List(&Integer)), (3, List(&Integer))])),
    (17, Struct(&[(1, Struct(BOUNDING_BOX)), (2, List(&Integer))])),
];

const COLUMN_CHUNK: Fields =
    &[(1, Binary), (2, Integer), (3, Struct(COLUMN)), (4, Integer), (5, Integer), (6, Integer), (7, Integer)];

const ROW_GROUP: Fields = &[
    (1, List(&Struct(COLUMN_CHUNK))),
    (2, Integer),
    (3, Integer),
    (4, List(&Struct(&[(1, Integer), (2, Bool), (3, Bool)]))),
    (5, Integer),
    (6, Integer),
    (7, Integer),
];

/// The footer of a file.
pub(super) const FOOTER: Fields = &[
    (1, Integer),
    (2, List(&Struct(SCHEMA_ELEMENT))),
    (3, Integer),
    (4, List(&Struct(ROW_GROUP))),
    (5, KEY_VALUES),
    (6, Binary),
    (7, List(&Struct(&[(1, EMPTY)]))),
];
