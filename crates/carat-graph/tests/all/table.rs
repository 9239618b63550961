//! Tables, written in every format and read back by independent means.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_array::{Array, Float32Array, Float64Array, Int64Array, StringArray, UInt32Array};
use carat_graph::table::{Column, Table, TableFormat, check_ending};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;

fn sample() -> Table {
    Table::new([
        ("node", Column::U32(vec![0, 1, u32::MAX])),
        ("label", Column::I64(vec![2, -1, i64::MIN])),
        ("loss", Column::F32(vec![0.1, 1e-30, f32::NAN])),
        ("rho", Column::F64(vec![-2.5, 0.0, 1e300])),
        ("name", Column::Text(vec!["plain".into(), "a \"quoted\", name".into(), "naïve\n二".into()])),
    ])
    .unwrap()
}

/// The entry of one column, checked and split into header and data.
fn npy(path: &Path, column: &str) -> (String, Vec<u8>) {
    let mut archive = zip::ZipArchive::new(File::open(path).unwrap()).unwrap();
    let mut bytes = Vec::new();
    archive.by_name(&format!("{column}.npy")).unwrap().read_to_end(&mut bytes).unwrap();
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let end = 10 + u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
    assert_eq!(end % 64, 0, "data starts at a multiple of 64 bytes");
    assert_eq!(bytes[end - 1], b'\n');
    (String::from_utf8(bytes[10..end].to_vec()).unwrap().trim_end().to_string(), bytes[end..].to_vec())
}

fn parquet_batches(path: &Path) -> Vec<RecordBatch> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap().build().unwrap();
    reader.map(Result::unwrap).collect()
}

#[test]
fn csv_is_quoted_where_needed_and_numbers_are_shortest() {
    let folder = tempfile::tempdir().unwrap();
    let expected = "node,label,loss,rho,name\n\
                    0,2,0.1,-2.5,plain\n\
                    1,-1,1e-30,0,\"a \"\"quoted\"\", name\"\n\
                    4294967295,-9223372036854775808,,1e300,\"naïve\n二\"\n";
    let plain = folder.path().join("t.csv");
    sample().write(&plain).unwrap();
    assert_eq!(std::fs::read_to_string(&plain).unwrap(), expected);

    let packed = folder.path().join("T.CSV.GZ");
    sample().write(&packed).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(File::open(&packed).unwrap()).read_to_string(&mut text).unwrap();
    assert_eq!(text, expected);
}

#[test]
fn parquet_keeps_types_and_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    sample().write(&path).unwrap();
    let batches = parquet_batches(&path);
    assert_eq!(batches.len(), 1);
    let batch = &batches[0];
    let names: Vec<&str> = batch.schema_ref().fields().iter().map(|f| f.name().as_str()).collect();
    assert_eq!(names, ["node", "label", "loss", "rho", "name"]);
    let column = |at: usize| batch.column(at).as_any();
    assert_eq!(column(0).downcast_ref::<UInt32Array>().unwrap().values(), &[0, 1, u32::MAX]);
    assert_eq!(column(1).downcast_ref::<Int64Array>().unwrap().values(), &[2, -1, i64::MIN]);
    let loss = column(2).downcast_ref::<Float32Array>().unwrap();
    assert_eq!(&loss.values()[..2], &[0.1, 1e-30]);
    assert!(loss.value(2).is_nan() && loss.null_count() == 0);
    assert_eq!(column(3).downcast_ref::<Float64Array>().unwrap().values(), &[-2.5, 0.0, 1e300]);
    assert_eq!(column(4).downcast_ref::<StringArray>().unwrap().value(2), "naïve\n二");
}

#[test]
fn npz_holds_one_array_per_column() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.npz");
    sample().write(&path).unwrap();
    let (header, data) = npy(&path, "label");
    assert_eq!(header, "{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }");
    assert_eq!(data, [2i64, -1, i64::MIN].map(i64::to_le_bytes).concat());
    let (header, data) = npy(&path, "loss");
    assert!(header.contains("'<f4'"));
    assert_eq!(data[..8], [0.1f32, 1e-30].map(f32::to_le_bytes).concat());
    assert!(npy(&path, "node").0.contains("'<u4'"));
    assert!(npy(&path, "rho").0.contains("'<f8'"));
    let (header, data) = npy(&path, "name");
    assert!(header.contains("'<U16'"), "{header}");
    assert_eq!(data.len(), 3 * 16 * 4);
    let third: String =
        data[2 * 64..].chunks(4).map_while(|c| char::from_u32(c[0].into()).filter(|_| c[1] == 0)).take(6).collect();
    assert_eq!(third, "naïve\n");
}

#[test]
fn tables_longer_than_a_slice_and_empty_ones_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let rows = 150_000u32;
    let long = Table::new([("n", Column::U32((0..rows).collect()))]).unwrap();
    let parquet = folder.path().join("long.parquet");
    long.write(&parquet).unwrap();
    let mut next = 0;
    for batch in parquet_batches(&parquet) {
        for &n in batch.column(0).as_any().downcast_ref::<UInt32Array>().unwrap().values() {
            assert_eq!(n, next);
            next += 1;
        }
    }
    assert_eq!(next, rows);
    let npz = folder.path().join("long.npz");
    long.write(&npz).unwrap();
    let (_, data) = npy(&npz, "n");
    assert_eq!(data.len(), rows as usize * 4);
    assert!(data.chunks(4).enumerate().all(|(n, c)| c == (n as u32).to_le_bytes()));

    let empty = Table::new([("n", Column::F32(vec![])), ("t", Column::Text(vec![]))]).unwrap();
    for format in TableFormat::ALL {
        empty.write(&folder.path().join(format!("empty{}", format.ending()))).unwrap();
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("empty.csv")).unwrap(), "n,t\n");
    assert_eq!(
        parquet_batches(&folder.path().join("empty.parquet")).iter().map(RecordBatch::num_rows).sum::<usize>(),
        0
    );
    assert!(npy(&folder.path().join("empty.npz"), "t").0.contains("'<U1'"));
}

#[test]
fn unequal_columns_and_repeated_names_are_refused() {
    let refusal = |columns: Vec<(&str, Column)>| Table::new(columns).unwrap_err().to_string();
    assert_eq!(refusal(vec![]), "a table needs at least one column");
    assert_eq!(
        refusal(vec![("a", Column::U32(vec![1])), ("b", Column::U32(vec![]))]),
        "column 'b' has 0 rows, but column 'a' has 1"
    );
    assert_eq!(refusal(vec![("a", Column::U32(vec![1])), ("a", Column::I64(vec![1]))]), "two columns are named 'a'");
}

#[test]
fn another_ending_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["out", "out.txt", "out.gz", "csv", "out.csv.zip"] {
        let path = folder.path().join(name);
        let error = sample().write(&path).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("{}: the ending of an output file must be .csv, .csv.gz, .parquet or .npz", path.display())
        );
        assert!(error.is_input_error());
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(check_ending(Path::new("a/b.Parquet")).unwrap(), TableFormat::Parquet);
    let missing = sample().write(&folder.path().join("no/such/folder.csv")).unwrap_err();
    assert!(!missing.is_input_error());
}

#[test]
fn npz_refuses_text_that_padding_would_make_too_large() {
    let folder = tempfile::tempdir().unwrap();
    let mut names = vec![String::new(); 70_000];
    names[3] = "x".repeat(70_000);
    let path = folder.path().join("t.npz");
    let error = Table::new([("name", Column::Text(names))]).unwrap().write(&path).unwrap_err().to_string();
    assert!(error.contains("'name' has a value of 70000 characters"), "{error}");
    assert!(!path.exists());
}

proptest! {
    #[test]
    fn floats_read_back_exactly_from_csv(bits in proptest::collection::vec(any::<(u32, u64)>(), 1..50)) {
        let single: Vec<f32> = bits.iter().map(|b| f32::from_bits(b.0)).collect();
        let double: Vec<f64> = bits.iter().map(|b| f64::from_bits(b.1)).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let columns = [("s", Column::F32(single.clone())), ("d", Column::F64(double.clone()))];
        Table::new(columns).unwrap().write(&path).unwrap();
        let mut reader = csv::Reader::from_path(&path).unwrap();
        for (row, record) in reader.records().enumerate() {
            let record = record.unwrap();
            // What is no number is an empty cell.
            let (s, d) = (record[0].parse::<f32>().ok(), record[1].parse::<f64>().ok());
            prop_assert_eq!(s, Some(single[row]).filter(|value| !value.is_nan()));
            prop_assert_eq!(d, Some(double[row]).filter(|value| !value.is_nan()));
        }
    }
}
