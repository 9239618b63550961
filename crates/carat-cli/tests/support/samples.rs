//! A tiny valid dataset in every layout, byte by byte. The table of errors damages them; the fuzz targets start from
//! them.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Files of one layout: the path within the folder, and the bytes.
pub type Files = Vec<(String, Vec<u8>)>;

/// One array of an archive: its name, NumPy's short name of its type, its shape and its bytes.
pub type Array<'a> = (&'a str, &'a str, &'a [usize], Vec<u8>);

fn files<const N: usize>(list: [(&str, &str); N]) -> Files {
    list.iter().map(|(name, text)| (name.to_string(), text.as_bytes().to_vec())).collect()
}

/// Little-endian bytes of 64-bit integers.
pub fn i64s(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Little-endian bytes of 32-bit floats.
pub fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// One `.npy` file.
pub fn npy(descr: &str, shape: &[usize], bytes: &[u8]) -> Vec<u8> {
    let shape: String = shape.iter().map(|extent| format!("{extent},")).collect();
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((text.len() as u16).to_le_bytes());
    file.extend(text.as_bytes());
    file.extend(bytes);
    file
}

/// Zips files without compressing them, with their right checksums.
pub fn archive<'a>(members: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        zip.start_file(name, stored).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A `.npz` file.
pub fn npz(arrays: &[Array<'_>]) -> Vec<u8> {
    let members: Vec<(String, Vec<u8>)> =
        arrays.iter().map(|(name, descr, shape, bytes)| (format!("{name}.npy"), npy(descr, shape, bytes))).collect();
    archive(members.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())))
}

/// A user's own graph of four nodes, two features and two classes.
pub fn own_arrays() -> Vec<Array<'static>> {
    vec![
        ("edge_index", "<i8", &[2, 4], i64s(&[0, 1, 2, 3, 1, 0, 3, 2])),
        ("x", "<f4", &[4, 2], f32s(&[1.0, 0.0, 0.5, 1.0, 0.0, 1.0, 1.0, 1.0])),
        ("y", "<i8", &[4], i64s(&[0, 1, 0, -1])),
        ("train_mask", "|b1", &[4], vec![1, 0, 0, 0]),
        ("val_mask", "|b1", &[4], vec![0, 1, 0, 0]),
        ("test_mask", "|b1", &[4], vec![0, 0, 1, 0]),
    ]
}

/// The same shape of graph as syn-cora stores it.
pub fn syn_cora_arrays() -> Vec<Array<'static>> {
    vec![
        ("adj_data", "<f4", &[4], f32s(&[1.0; 4])),
        ("adj_indices", "<i8", &[4], i64s(&[1, 0, 3, 2])),
        ("adj_indptr", "<i8", &[5], i64s(&[0, 1, 2, 3, 4])),
        ("adj_shape", "<i8", &[2], i64s(&[4, 4])),
        ("attr_data", "<f4", &[3], f32s(&[1.0, 1.0, 2.0])),
        ("attr_indices", "<i8", &[3], i64s(&[0, 2, 1])),
        ("attr_indptr", "<i8", &[5], i64s(&[0, 1, 1, 3, 3])),
        ("attr_shape", "<i8", &[2], i64s(&[4, 3])),
        ("labels", "<i8", &[4], i64s(&[0, 1, 2, 0])),
    ]
}

/// The same shape of graph as Platonov et al. store it.
pub fn heterophilous_arrays() -> Vec<Array<'static>> {
    vec![
        ("node_features", "<f4", &[4, 2], f32s(&[1.0, 0.0, 0.5, 1.0, 0.0, 1.0, 1.0, 1.0])),
        ("node_labels", "<i8", &[4], i64s(&[0, 1, 0, -1])),
        ("edges", "<i8", &[3, 2], i64s(&[0, 1, 2, 3, 2, 0])),
        ("train_masks", "|b1", &[2, 4], vec![1, 0, 0, 0, 0, 1, 0, 0]),
        ("val_masks", "|b1", &[2, 4], vec![0, 1, 0, 0, 1, 0, 0, 0]),
        ("test_masks", "|b1", &[2, 4], vec![0, 0, 1, 0, 0, 0, 1, 0]),
    ]
}

/// A folder of CSV tables, with named nodes and classes.
pub fn folder() -> Files {
    files([
        ("nodes.csv", "id,label,split,f0,f1\na,cat,train,1,0\nb,dog,val,0.5,1\nc,cat,test,0,2e-1\nd,,,1,1\n"),
        ("edges.csv", "src,dst,spurious\na,b,0\nb,a,1\nc,d,0\nd,c,0\n"),
        ("classes.csv", "label\ncat\ndog\n"),
    ])
}

/// Geom-GCN's layout, of a graph named `tiny`.
pub fn geom_gcn() -> Files {
    let mut list = files([
        (
            "tiny/out1_node_feature_label.txt",
            "node_id\tfeature\tlabel\n0\t1,0,0\t0\n1\t0,1,0\t1\n2\t0,0.5,1\t0\n3\t0,0,1\t1\n",
        ),
        ("tiny/out1_graph_edges.txt", "node_id\tnode_id\n0\t1\n1\t0\n2\t3\n3\t3\n"),
    ]);
    let masks = [("train_mask", [1, 0, 0, 0]), ("val_mask", [0, 1, 0, 0]), ("test_mask", [0, 0, 1, 1])];
    let arrays: Vec<Array<'_>> = masks.iter().map(|(name, mask)| (*name, "|u1", &[4][..], mask.to_vec())).collect();
    list.push(("splits/tiny_split_0.6_0.2_0.npz".into(), npz(&arrays)));
    list
}

/// OGB's layout.
pub fn ogb() -> Files {
    files([
        ("raw/edge.csv", "0,1\n0,2\n3,0\n2,2\n0,1\n"),
        ("raw/node-feat.csv", "1.0,-0.5\n0,2e-3\n0.25,0\n1,3\n"),
        ("raw/node-label.csv", "1\n0\nnan\n2\n"),
        ("raw/node_year.csv", "2001\n1999\n2020\n2010\n"),
        ("raw/num-node-list.csv", "4\n"),
        ("raw/num-edge-list.csv", "5\n"),
        ("split/random/train.csv", "3\n0\n"),
        ("split/random/valid.csv", "1\n"),
        ("split/random/test.csv", ""),
        ("mapping/labelidx2thing.csv", "label idx,thing\n1,\"b, c\"\n0,a\n2,d\n"),
        ("mapping/nodeidx2thing.csv", "node idx,thing\n0,p\n1,q\n2,r\n3,s\n"),
    ])
}

/// TUDataset's layout.
pub fn tudataset() -> Files {
    files([
        ("S_A.txt", "1, 3\n3, 1\n2, 4\n4, 2\n2,2\n1,3\n"),
        ("S_graph_indicator.txt", "2\n1\n2\n1\n4\n"),
        ("S_graph_labels.txt", "5\n-1\n5\n7\n"),
        ("S_node_labels.txt", "9\n3\n3\n9\n-2\n"),
        ("S_node_attributes.txt", "0.5, 0\n1,2\n3,4\n5,6\n7,8\n"),
    ])
}

/// Planetoid's layout, of a graph named `tiny`: two nodes in `allx`, of which one trains, and two that test.
pub fn planetoid() -> Files {
    let one_hot = |rows: &[[i64; 2]]| pickled_array("i8", &[rows.len(), 2], &i64s(&rows.concat()));
    let features = |rows: usize| {
        let offsets: Vec<i64> = (0..=rows as i64).collect();
        pickled_csr([rows, 3], &offsets, &vec![1; rows], &vec![1.0; rows])
    };
    let finished = |mut pickle: Vec<u8>| {
        pickle.push(b'.');
        pickle
    };
    let parts: [(&str, Vec<u8>); 8] = [
        ("x", finished(features(1))),
        ("y", finished(one_hot(&[[1, 0]]))),
        ("tx", finished(features(2))),
        ("ty", finished(one_hot(&[[0, 1], [1, 0]]))),
        ("allx", finished(features(2))),
        ("ally", finished(one_hot(&[[1, 0], [0, 1]]))),
        ("graph", b"(dI0\n(lI1\naI2\nasI1\n(lI0\nasI3\n(lI3\nas.".to_vec()),
        ("test.index", b"3\n2\n".to_vec()),
    ];
    parts.into_iter().map(|(part, bytes)| (format!("ind.tiny.{part}"), bytes)).collect()
}

fn pickled_array(descr: &str, shape: &[usize], bytes: &[u8]) -> Vec<u8> {
    let shape: String = shape.iter().map(|extent| format!("I{extent}\n")).collect();
    let mut pickle = format!(
        "cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR(I1\n({shape}tcnumpy\ndtype\n\
         (S'{descr}'\nI0\nI1\ntR(I3\nS'<'\nNNNI-1\nI-1\nI0\ntbI00\nT"
    )
    .into_bytes();
    pickle.extend((bytes.len() as u32).to_le_bytes());
    pickle.extend(bytes);
    pickle.extend(b"tb");
    pickle
}

fn pickled_csr(shape: [usize; 2], offsets: &[i64], columns: &[i64], values: &[f32]) -> Vec<u8> {
    let [rows, width] = shape;
    let mut pickle = format!(
        "ccopy_reg\n_reconstructor\n(cscipy.sparse.csr\ncsr_matrix\nc__builtin__\nobject\nNtR(dS'_shape'\n\
         (I{rows}\nI{width}\ntsS'indptr'\n"
    )
    .into_bytes();
    pickle.extend(pickled_array("i8", &[offsets.len()], &i64s(offsets)));
    pickle.extend(b"sS'indices'\n");
    pickle.extend(pickled_array("i8", &[columns.len()], &i64s(columns)));
    pickle.extend(b"sS'data'\n");
    pickle.extend(pickled_array("f4", &[values.len()], &f32s(values)));
    pickle.extend(b"sb");
    pickle
}
