//! A reader of Python pickles that executes nothing.
//!
//! A pickle is a program that may call any Python function. This reader runs only the opcodes that build numbers, text,
//! lists, tuples and dictionaries. It knows the few names ([`Callable`]) that rebuild NumPy arrays, SciPy's CSR
//! matrices and default dictionaries, and refuses every other.
//!
//! Values live in a flat arena and refer to each other by position, so that shared and even circular values need no
//! recursion, and memory stays in proportion to the file.

mod machine;
mod objects;

use std::path::{Path, PathBuf};

use crate::DataError;
use crate::npy::Array;
use objects::Callable;

/// A value on the machine's stack: small ones themselves, others by their position in the arena.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Object(usize),
}

/// A value in the arena.
#[derive(Debug, Clone, PartialEq)]
enum Object {
    /// Python 3's `bytes`, or the `str` of Python 2.
    Bytes(Vec<u8>),
    Text(String),
    List(Vec<Value>),
    Tuple(Vec<Value>),
    Dict(Vec<(Value, Value)>),
    Callable(Callable),
    /// NumPy's `dtype`: its short name, and its byte order once its state is set.
    ElementType {
        name: String,
        big_endian: bool,
    },
    Array(Option<ArrayParts>),
    /// A CSR matrix: the dictionary of its attributes, once it is set.
    Csr(Value),
}

/// What an array is made of, looked up only when the array is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ArrayParts {
    shape: Value,
    element: Value,
    column_major: bool,
    data: Value,
}

/// A CSR matrix as SciPy stores it, not yet checked.
#[derive(Debug)]
pub(crate) struct PickledCsr {
    pub(crate) shape: [usize; 2],
    pub(crate) offsets: Array,
    pub(crate) columns: Array,
    pub(crate) values: Array,
}

/// The result of running a pickle.
#[derive(Debug)]
pub(crate) struct Pickle {
    path: PathBuf,
    file_length: usize,
    arena: Vec<Object>,
    root: Value,
}

impl Pickle {
    /// Reads a file and rebuilds its value.
    pub(crate) fn read(path: &Path) -> Result<Self, DataError> {
        let bytes = std::fs::read(path).map_err(|e| DataError::read(path, e))?;
        Self::parse(path, &bytes)
    }

    fn parse(path: &Path, bytes: &[u8]) -> Result<Self, DataError> {
        let (arena, root) = machine::Machine::run(bytes).map_err(|e| e.in_file(path))?;
        Ok(Self { path: path.to_path_buf(), file_length: bytes.len(), arena, root })
    }

    /// The value as an array.
    pub(crate) fn array(&self) -> Result<Array, DataError> {
        objects::array(&self.arena, self.root).map_err(|e| e.in_file(&self.path))
    }

    /// The value as a CSR matrix.
    pub(crate) fn csr(&self) -> Result<PickledCsr, DataError> {
        objects::csr(&self.arena, self.root).map_err(|e| e.in_file(&self.path))
    }

    /// The value as a dictionary from integers to lists of integers: each key with each integer of its list.
    pub(crate) fn adjacency(&self) -> Result<Vec<(i64, i64)>, DataError> {
        let wrong = || DataError::malformed(&self.path, "a dictionary from nodes to lists of nodes is needed");
        let Some(Object::Dict(entries)) = objects::get(&self.arena, self.root) else {
            return Err(wrong());
        };
        let mut pairs = Vec::new();
        for (key, list) in entries {
            let (Value::Int(node), Some(Object::List(neighbours) | Object::Tuple(neighbours))) =
                (key, objects::get(&self.arena, *list))
            else {
                return Err(wrong());
            };
            // Every neighbour takes a byte at least, unless lists are shared to make a small file large.
            if pairs.len() + neighbours.len() > self.file_length {
                return Err(DataError::malformed(&self.path, "the dictionary holds more than the file can"));
            }
            for neighbour in neighbours {
                let Value::Int(neighbour) = neighbour else { return Err(wrong()) };
                pairs.push((*node, *neighbour));
            }
        }
        Ok(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(bytes: &[u8]) -> Result<Pickle, DataError> {
        Pickle::parse(Path::new("x"), bytes)
    }

    /// `pickle.dumps(numpy.array([[1, 2], [3, 4]], dtype='<i4'), protocol)`, as Python wrote it.
    const ARRAYS: [&[u8]; 3] = [
        include_bytes!("../tests/files/array-protocol0.pickle"),
        include_bytes!("../tests/files/array-protocol2.pickle"),
        include_bytes!("../tests/files/array-protocol5.pickle"),
    ];

    /// A CSR matrix of shape (2, 4) with the rows [0, 1.5, 0, 0] and [2, 0, 0, -1].
    const MATRICES: [&[u8]; 3] = [
        include_bytes!("../tests/files/csr-protocol0.pickle"),
        include_bytes!("../tests/files/csr-protocol2.pickle"),
        include_bytes!("../tests/files/csr-protocol5.pickle"),
    ];

    /// `defaultdict(list, {0: [1, 2], 1: [0], 300: [], 70000: [0, 1, 2]})`.
    const DICTIONARIES: [&[u8]; 3] = [
        include_bytes!("../tests/files/dict-protocol0.pickle"),
        include_bytes!("../tests/files/dict-protocol2.pickle"),
        include_bytes!("../tests/files/dict-protocol5.pickle"),
    ];

    #[test]
    fn arrays_of_every_protocol_are_rebuilt() {
        for bytes in ARRAYS {
            let array = parse(bytes).unwrap().array().unwrap();
            assert_eq!((array.shape(), array.to_i64().unwrap()), (&[2, 2][..], vec![1, 2, 3, 4]));
        }
    }

    #[test]
    fn matrices_of_every_protocol_are_rebuilt() {
        for bytes in MATRICES {
            let matrix = parse(bytes).unwrap().csr().unwrap();
            assert_eq!(matrix.shape, [2, 4]);
            assert_eq!(matrix.offsets.to_i64().unwrap(), [0, 1, 3]);
            assert_eq!(matrix.columns.to_i64().unwrap(), [1, 0, 3]);
            assert_eq!(matrix.values.to_f64().unwrap(), [1.5, 2.0, -1.0]);
        }
    }

    #[test]
    fn dictionaries_of_every_protocol_are_rebuilt() {
        for bytes in DICTIONARIES {
            let pairs = parse(bytes).unwrap().adjacency().unwrap();
            assert_eq!(pairs, [(0, 1), (0, 2), (1, 0), (70_000, 0), (70_000, 1), (70_000, 2)]);
        }
    }

    #[test]
    fn a_call_of_anything_else_is_refused_by_name() {
        let attacks: [(&[u8], &str); 5] = [
            (b"cos\nsystem\n(S'true'\ntR.", "os.system"),
            (b"c__builtin__\neval\n(S'1'\ntR.", "__builtin__.eval"),
            (b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x04true\x85R.", "posix.system"),
            (b"(S'true'\nios\nsystem\n.", "os.system"),
            (b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncsubprocess\nPopen\n\x85R.", "subprocess.Popen"),
        ];
        for (bytes, name) in attacks {
            let error = parse(bytes).unwrap_err().to_string();
            assert_eq!(
                error,
                format!(
                    "x: the pickle asks to call '{name}'; carat only builds arrays and dicts from pickles and \
                     executes nothing"
                )
            );
        }
    }

    #[test]
    fn shared_lists_cannot_make_a_small_file_large() {
        // One list of 200 integers, then 200 keys that all point at it.
        let mut bytes = b"\x80\x02}(K\x00](".to_vec();
        bytes.extend([b'K', 7].repeat(200));
        bytes.extend(b"eq\x00");
        for key in 1..200u8 {
            bytes.extend([b'K', key, b'h', 0]);
        }
        bytes.extend(b"u.");
        assert!(parse(&bytes).unwrap().adjacency().unwrap_err().to_string().contains("more than the file can"));
        // Encoding one long text again and again would do the same.
        let mut bytes = b"\x80\x02c_codecs\nencode\nq\x00X\x00\x01\x00\x00".to_vec();
        bytes.extend([b'a'; 256]);
        bytes.extend(b"X\x06\x00\x00\x00latin1\x86q\x01");
        bytes.extend(b"h\x00h\x01R0".repeat(500));
        bytes.extend(b"N.");
        assert!(parse(&bytes).unwrap_err().to_string().contains("more than the file can"));
    }

    #[test]
    fn circular_values_are_handled() {
        let own_list = parse(b"\x80\x02]q\x00h\x00a.").unwrap();
        assert!(own_list.adjacency().is_err() && own_list.array().is_err() && own_list.csr().is_err());
        assert!(parse(b"\x80\x02}q\x00K\x01h\x00s.").unwrap().adjacency().is_err());
        // An array that is its own data.
        let bytes = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntRp0\n(I1\n(I1\nt\
            cnumpy\ndtype\n(S'i1'\ntRI00\ng0\ntb.";
        assert!(parse(bytes).and_then(|p| p.array()).is_err());
    }

    #[test]
    fn truncation_and_flipped_bits_never_panic() {
        for whole in ARRAYS.into_iter().chain(MATRICES).chain(DICTIONARIES) {
            for length in 0..whole.len() {
                assert!(parse(&whole[..length]).is_err(), "{length}");
            }
            for bit in 0..whole.len() * 8 {
                let mut flipped = whole.to_vec();
                flipped[bit / 8] ^= 1 << (bit % 8);
                if let Ok(pickle) = parse(&flipped) {
                    let _ = (pickle.array().is_ok(), pickle.csr().is_ok(), pickle.adjacency().is_ok());
                }
            }
        }
    }
}
