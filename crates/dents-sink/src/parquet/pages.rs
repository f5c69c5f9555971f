//! The pages of a column, checked before they are decoded.
//!
//! A page of deltas begins with the number of its values, and the decoder makes room for so many before it reads one. A forged number makes it
//! ask for any amount of memory, so the number is compared with the page: memory stays in proportion to the file.

use ::parquet::basic::Encoding;
use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::serialized_reader::SerializedPageReader;

use super::section::Section;

/// Values that a byte of deltas has at most. A block of 128 values takes five bytes or more; writers make blocks of up to 256.
const VALUES_PER_BYTE: u64 = 64;

/// The pages of one column.
pub(super) struct Pages {
    pages: SerializedPageReader<Section>,
    /// Whether rows may have no value: then levels precede the values.
    optional: bool,
}

impl Pages {
    pub(super) fn new(pages: SerializedPageReader<Section>, optional: bool) -> Pages {
        Pages { pages, optional }
    }

    /// # Errors
    /// The page says that it has more values than fit in it.
    fn check(&self, page: &Page) -> Result<()> {
        let (buf, values, encoding) = match page {
            Page::DataPage { buf, num_values, encoding, def_level_encoding, .. } => {
                let levels = match def_level_encoding {
                    _ if !self.optional => 0,
                    Encoding::RLE => {
                        buf.first_chunk().map_or(0, |length| 4 + u32::from_le_bytes(*length) as usize)
                    }
                    // The deprecated one: a bit for each row, without a length.
                    _ => num_values.div_ceil(8) as usize,
                };
                (buf.get(levels..), num_values, encoding)
            }
            Page::DataPageV2 {
                buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, ..
            } => {
                let levels = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
                (buf.get(levels..), num_values, encoding)
            }
            Page::DictionaryPage { .. } => return Ok(()),
        };
        let lists = match encoding {
            Encoding::DELTA_BYTE_ARRAY => 2,
            Encoding::DELTA_LENGTH_BYTE_ARRAY | Encoding::DELTA_BINARY_PACKED => 1,
            _ => return Ok(()),
        };
        check_lists(buf.unwrap_or_default(), (*values).into(), lists)
    }
}

/// Checks these lists of deltas, one after the other, of a page with so many values.
fn check_lists(mut data: &[u8], values: u64, lists: usize) -> Result<()> {
    let most = values.min(VALUES_PER_BYTE * data.len() as u64);
    for _ in 0..lists {
        // Without the four numbers of a head, the decoder says what is wrong.
        let Some((count, after)) = deltas(data) else { return Ok(()) };
        data = after.filter(|_| count <= most).ok_or_else(wrong)?;
    }
    Ok(())
}

fn wrong() -> ParquetError {
    ParquetError::General("a page has another number of values than it says".to_owned())
}

/// The number of values in a list of deltas, and what follows the list; `None` for that if the list is cut off.
fn deltas(mut data: &[u8]) -> Option<(u64, Option<&[u8]>)> {
    let [block, minis, count] = [number(&mut data)?, number(&mut data)?, number(&mut data)?];
    number(&mut data)?;
    Some((count, after_blocks(data, block, minis, count)))
}

/// What follows the blocks: each has a least delta, a width for each of its parts, and the parts that have values.
fn after_blocks(mut data: &[u8], block: u64, minis: u64, count: u64) -> Option<&[u8]> {
    let part = block.checked_div(minis).filter(|part| *part > 0)?;
    let mut left = count.saturating_sub(1);
    while left > 0 {
        number(&mut data)?;
        let (widths, after) = data.split_at_checked(usize::try_from(minis).ok()?)?;
        data = after;
        for width in widths {
            if left == 0 {
                break;
            }
            let bytes = part.checked_mul(u64::from(*width))? / 8;
            data = data.get(usize::try_from(bytes).ok()?..)?;
            left = left.saturating_sub(part);
        }
    }
    Some(data)
}

/// A number of seven bits a byte, the lowest first.
fn number(data: &mut &[u8]) -> Option<u64> {
    let length = data.iter().take(10).position(|byte| *byte < 0x80)? + 1;
    let (bytes, after) = data.split_at(length);
    *data = after;
    Some(bytes.iter().rev().fold(0, |sum, byte| sum << 7 | u64::from(byte & 0x7f)))
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        page.as_ref().map_or(Ok(()), |page| self.check(page))?;
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn supports_deferred_dictionary(&self) -> bool {
        self.pages.supports_deferred_dictionary()
    }

    fn take_deferred_dictionary(&mut self) -> Result<Option<Page>> {
        self.pages.take_deferred_dictionary()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of 128 values in four parts, 3 values, the first is 7 (14), the least delta 0, widths 8, 0, 0, 0, and what follows.
    const LIST: [u8; 45] = {
        let mut list = [0; 45];
        (list[0], list[1], list[2], list[3], list[4]) = (0x80, 1, 4, 3, 14);
        (list[6], list[10], list[11], list[42]) = (8, 1, 2, 9);
        list
    };

    #[test]
    fn a_list_has_a_number_and_an_end() {
        assert_eq!(deltas(&LIST), Some((3, Some(&[9, 0, 0][..]))));
        assert_eq!(deltas(&LIST[..41]), Some((3, None)));
        assert_eq!(deltas(&LIST[..4]), None);
        let mut many = LIST;
        many[3] = 0x7f;
        assert_eq!(deltas(&many), Some((127, Some(&[9, 0, 0][..]))), "parts of width 0 have no bytes");
        many[2] = 0;
        assert_eq!(deltas(&many), Some((127, None)), "no parts");
    }

    #[test]
    fn no_list_has_more_values_than_the_page_or_than_fit_in_it() {
        assert!(check_lists(&LIST, 3, 1).is_ok() && check_lists(&LIST, 2, 1).is_err());
        assert!(check_lists(&LIST, 3, 2).is_ok(), "the second list has no head");
        assert!(check_lists(&LIST[..41], 3, 1).is_err(), "cut off");
        // One block of 2^28 values, all the same: the page has 10 bytes, and says that it has as many.
        let large = [0x80, 0x80, 0x80, 0x80, 1, 1, 0x80, 0x80, 0x80, 0x40, 0, 0, 0];
        assert_eq!(deltas(&large), Some((1 << 27, Some(&[][..]))));
        assert!(check_lists(&large, 1 << 27, 1).is_err());
    }
}
