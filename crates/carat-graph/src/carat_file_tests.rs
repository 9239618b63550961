use super::*;
use std::io::Cursor;

fn sample() -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let mut writer = FileWriter::new(&mut bytes).unwrap();
    writer.section(Kind::Labels, &[1i32, -1, 0]).unwrap();
    writer.begin(Kind::Sources).unwrap();
    writer.append(&[1u32, 2]).unwrap();
    writer.append(&[3u32]).unwrap();
    writer.finish().unwrap();
    bytes.into_inner()
}

/// Gives head and table the checksums that fit them.
fn seal(bytes: &mut [u8]) {
    let count = (u32_at(bytes, 12).unwrap() as usize).min(MAX_SECTIONS);
    let table = crc32fast::hash(&bytes[HEAD..HEAD + count * ENTRY]);
    bytes[24..28].copy_from_slice(&table.to_le_bytes());
    let head = crc32fast::hash(&bytes[..28]);
    bytes[28..32].copy_from_slice(&head.to_le_bytes());
}

#[test]
fn sections_come_back_with_their_checksums() {
    let bytes = sample();
    let sections = read_head(&bytes).unwrap();
    assert_eq!(sections.iter().map(|s| s.kind).collect::<Vec<_>>(), [Kind::Labels as u32, Kind::Sources as u32]);
    assert_eq!(&bytes[sections[1].range()], bytemuck::cast_slice::<u32, u8>(&[1, 2, 3]));
    for section in sections {
        assert_eq!((section.offset % ALIGNMENT, section.checksum), (0, crc32fast::hash(&bytes[section.range()])));
    }
}

#[test]
fn every_damaged_byte_of_the_head_and_every_cut_is_noticed() {
    let whole = sample();
    for length in 0..whole.len() {
        assert!(read_head(&whole[..length]).is_err(), "{length}");
    }
    for at in 0..HEAD + 2 * ENTRY {
        for bit in 0..8 {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << bit;
            assert!(read_head(&damaged).is_err(), "byte {at}, bit {bit}");
        }
    }
}

#[test]
fn lies_with_the_right_checksum_are_noticed_too() {
    let change = |at: usize, value: u64, size: usize| {
        let mut bytes = sample();
        bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
        seal(&mut bytes);
        read_head(&bytes).unwrap_err()
    };
    let (first, second) = (HEAD, HEAD + ENTRY);
    assert!(change(8, 2, 4).contains("version 2") && change(8, 2, 4).contains("a newer carat"));
    assert!(change(8, 0, 4).contains("version 0"));
    assert!(change(12, 33, 4).contains("33 sections"));
    assert!(change(16, 5000, 8).contains("promises 5000"));
    assert!(change(first, u64::from(Kind::Sources as u32), 4).contains("two sections are of one kind"));
    assert!(change(second + 8, DATA, 8).contains("overlap"));
    for (at, value) in [(8, 0), (8, DATA + 1), (8, u64::MAX - 63), (16, u64::MAX), (16, 1 << 20)] {
        let said = change(second + at, value, 8);
        assert!(said.contains("section 1 does not lie within the file"), "{said}");
    }
}
