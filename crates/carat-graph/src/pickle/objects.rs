//! The few names that a pickle may call here, and what they build.

use super::machine::invalid;
use super::{ArrayParts, Object, PickledCsr, Value};
use crate::DataError;
use crate::npy::{Array, ElementType};

/// Every name that a pickle may use. None is a Python function: each is rebuilt here as data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Callable {
    /// An empty array, to be filled by its state.
    ReconstructArray,
    /// An array from its bytes (protocol 5).
    ArrayFromBuffer,
    ArrayClass,
    ElementType,
    CsrClass,
    DefaultDict,
    /// A type that stands as an argument only: `list`, `int`, `object`.
    PlainClass,
    /// An object of a class, to be filled by its state (protocols 0 and 1).
    ReconstructObject,
    /// Text to bytes, as Python 3 writes bytes in protocol 2.
    Encode,
}

impl Callable {
    pub(super) fn named(module: &str, name: &str) -> Option<Self> {
        Some(match (module, name) {
            ("numpy.core.multiarray" | "numpy._core.multiarray", "_reconstruct") => Self::ReconstructArray,
            ("numpy.core.numeric" | "numpy._core.numeric", "_frombuffer") => Self::ArrayFromBuffer,
            ("numpy", "ndarray") => Self::ArrayClass,
            ("numpy", "dtype") => Self::ElementType,
            ("scipy.sparse.csr" | "scipy.sparse._csr" | "scipy.sparse", "csr_matrix" | "csr_array") => Self::CsrClass,
            ("collections", "defaultdict") => Self::DefaultDict,
            ("__builtin__" | "builtins", "list" | "int" | "object") => Self::PlainClass,
            ("copy_reg" | "copyreg", "_reconstructor") => Self::ReconstructObject,
            ("_codecs", "encode") => Self::Encode,
            _ => return None,
        })
    }
}

pub(super) fn get(arena: &[Object], value: Value) -> Option<&Object> {
    match value {
        Value::Object(index) => arena.get(index),
        _ => None,
    }
}

pub(super) fn get_mut(arena: &mut [Object], value: Value) -> Option<&mut Object> {
    match value {
        Value::Object(index) => arena.get_mut(index),
        _ => None,
    }
}

fn callable(arena: &[Object], value: Value) -> Option<Callable> {
    match get(arena, value) {
        Some(Object::Callable(callable)) => Some(*callable),
        _ => None,
    }
}

fn tuple(arena: &[Object], value: Value) -> Option<&[Value]> {
    match get(arena, value) {
        Some(Object::Tuple(items)) => Some(items),
        _ => None,
    }
}

/// A short text, whichever Python wrote it.
fn name(arena: &[Object], value: Value) -> Option<&str> {
    match get(arena, value) {
        Some(Object::Text(text)) => Some(text),
        Some(Object::Bytes(bytes)) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

fn sizes(arena: &[Object], value: Value) -> Option<Vec<usize>> {
    let size = |item: &Value| match item {
        Value::Int(size) => usize::try_from(*size).ok(),
        _ => None,
    };
    tuple(arena, value).filter(|items| items.len() <= 64)?.iter().map(size).collect()
}

fn truth(value: Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(truth),
        Value::Int(number) => Some(number != 0),
        _ => None,
    }
}

/// The result of calling `function` with a tuple of arguments. What it copies is subtracted from `copies_left`.
pub(super) fn call(
    arena: &[Object],
    function: Value,
    arguments: Value,
    copies_left: &mut usize,
) -> Result<Object, DataError> {
    let (Some(function), Some(arguments)) = (callable(arena, function), tuple(arena, arguments)) else {
        return invalid("the pickle calls something that is no function");
    };
    let built = match (function, arguments) {
        (Callable::ReconstructArray, [class, ..]) if callable(arena, *class) == Some(Callable::ArrayClass) => {
            Some(Object::Array(None))
        }
        (Callable::ArrayFromBuffer, &[data, element, shape, order]) => {
            let column_major = match name(arena, order) {
                Some("C") => Some(false),
                Some("F") => Some(true),
                _ => None,
            };
            column_major.map(|column_major| Object::Array(Some(ArrayParts { shape, element, column_major, data })))
        }
        (Callable::ElementType, [element, ..]) => match name(arena, *element) {
            Some(name) if name.len() <= 16 => {
                Some(Object::ElementType { name: name.to_string(), big_endian: name.starts_with('>') })
            }
            _ => None,
        },
        (Callable::CsrClass, []) => Some(Object::Csr(Value::None)),
        (Callable::ReconstructObject, [class, ..]) if callable(arena, *class) == Some(Callable::CsrClass) => {
            Some(Object::Csr(Value::None))
        }
        (Callable::DefaultDict, [] | [_]) => Some(Object::Dict(Vec::new())),
        (Callable::Encode, &[text, encoding]) => match (get(arena, text), name(arena, encoding)) {
            (Some(Object::Text(text)), Some("latin1" | "latin-1")) => {
                let Some(left) = copies_left.checked_sub(text.len()) else {
                    return invalid("the pickle builds more than the file can hold");
                };
                *copies_left = left;
                let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
                bytes.map(Object::Bytes)
            }
            _ => None,
        },
        _ => None,
    };
    match built {
        Some(object) => Ok(object),
        None => invalid(format!("the pickle calls {function:?} with arguments that do not fit")),
    }
}

/// Fills an object from the state that its class's `__setstate__` would get.
pub(super) fn set_state(arena: &mut [Object], object: Value, state: Value) -> Result<(), DataError> {
    let filled = match get(arena, object) {
        Some(Object::Array(_)) => array_state(arena, state).map(|parts| Object::Array(Some(parts))),
        Some(Object::ElementType { name, .. }) => match tuple(arena, state) {
            Some([_version, order, ..]) => self::name(arena, *order)
                .map(|order| Object::ElementType { name: name.clone(), big_endian: order == ">" }),
            _ => None,
        },
        Some(Object::Csr(_)) => Some(Object::Csr(state)),
        _ => None,
    };
    match (filled, get_mut(arena, object)) {
        (Some(filled), Some(slot)) => *slot = filled,
        _ => return invalid("the pickle sets the state of a value that cannot take it"),
    }
    Ok(())
}

fn array_state(arena: &[Object], state: Value) -> Option<ArrayParts> {
    let items = tuple(arena, state)?;
    // The oldest NumPy did not write the version.
    let &[shape, element, order, data] = items.get(items.len().checked_sub(4)?..)?.first_chunk::<4>()?;
    Some(ArrayParts { shape, element, column_major: truth(order)?, data })
}

/// The array that `value` is.
pub(super) fn array(arena: &[Object], value: Value) -> Result<Array, DataError> {
    let Some(Object::Array(Some(parts))) = get(arena, value) else {
        return invalid("the pickle holds no NumPy array where one is needed");
    };
    let Some(Object::ElementType { name, big_endian }) = get(arena, parts.element) else {
        return invalid("an array of the pickle has no element type");
    };
    let element = ElementType { big_endian: *big_endian, ..ElementType::parse(name)? };
    let Some(shape) = sizes(arena, parts.shape) else {
        return invalid("an array of the pickle has no shape");
    };
    let Some(Object::Bytes(data)) = get(arena, parts.data) else {
        return invalid("an array of the pickle has no data, or holds Python objects");
    };
    Array::new(shape, element, parts.column_major, data.clone())
}

/// The CSR matrix that `value` is.
pub(super) fn csr(arena: &[Object], value: Value) -> Result<PickledCsr, DataError> {
    let attributes = match get(arena, value) {
        Some(Object::Csr(attributes)) => get(arena, *attributes),
        _ => None,
    };
    let Some(Object::Dict(attributes)) = attributes else {
        return invalid("the pickle holds no SciPy CSR matrix where one is needed; save it with .tocsr()");
    };
    let attribute = |names: &[&str]| {
        let found = attributes.iter().rev().find(|(key, _)| name(arena, *key).is_some_and(|key| names.contains(&key)));
        match found {
            Some((_, value)) => Ok(*value),
            None => invalid(format!("the CSR matrix in the pickle has no '{}'", names[0])),
        }
    };
    let shape = sizes(arena, attribute(&["_shape", "shape"])?).and_then(|shape| shape.try_into().ok());
    let Some(shape) = shape else { return invalid("the CSR matrix in the pickle has no two-dimensional shape") };
    Ok(PickledCsr {
        shape,
        offsets: array(arena, attribute(&["indptr"])?)?,
        columns: array(arena, attribute(&["indices"])?)?,
        values: array(arena, attribute(&["data"])?)?,
    })
}
