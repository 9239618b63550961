//! CSR arrays as files store them, checked and turned into a [`CsrMatrix`].

use crate::npy::Array;
use crate::{CsrMatrix, DataError};

/// A matrix from the arrays that SciPy calls `indptr`, `indices` and `data`.
///
/// The number of rows is checked against the number of offsets, which is one more, before it is used.
pub(crate) fn matrix(
    shape: [usize; 2],
    offsets: &Array,
    columns: &Array,
    values: &Array,
) -> Result<CsrMatrix, DataError> {
    let [num_rows, num_columns] = shape;
    let offsets = offsets.to_i64()?;
    if num_rows.checked_add(1) != Some(offsets.len()) {
        return Err(DataError::Invalid(format!(
            "{} row offsets for {num_rows} rows; one more is needed",
            offsets.len()
        )));
    }
    if u32::try_from(num_columns).is_err() {
        return Err(DataError::Invalid(format!("{num_columns} columns are too many")));
    }
    let negative = || DataError::Invalid("a row offset or column is negative or too large".into());
    let offsets = offsets.into_iter().map(usize::try_from).collect::<Result<_, _>>().map_err(|_| negative())?;
    let columns = columns.to_i64()?.into_iter().map(u32::try_from).collect::<Result<_, _>>().map_err(|_| negative())?;
    CsrMatrix::new(num_columns, offsets, columns, values.to_f32()?)
}
