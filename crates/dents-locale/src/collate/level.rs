//! What both ways to make one level of a key share.

/// Separates levels. It is less than every byte of a weight and of a position.
pub(super) const SEPARATOR: u8 = 0;

/// A stretch that is read backward: from its end, without `lost` elements next to the last one.
///
/// This is not a rule of a standard, and `strxfrm` does not do it, but `strcoll` does, and so `ls` sorts by it: a
/// stretch loses one element if another stretch follows, and one for each element without weight just before. In ISO
/// 14651's table punctuation and digits are read backward at the second level, letters forward; so `12o` comes before
/// `1_2o`, which has one more digit at that level, and `100` comes after `10_0`. Found by comparing strings in a
/// locale made for it (glibc 2.36).
pub(super) fn turned<T>(stretch: &[T], lost: usize) -> impl Iterator<Item = &T> {
    let (head, last) = stretch.split_at(stretch.len().saturating_sub(1));
    last.iter().chain(head[..head.len().saturating_sub(lost)].iter().rev())
}

/// A position as bytes that sort by its value: one byte up to 126, otherwise two.
pub(super) fn position(ignored: usize) -> ([u8; 2], usize) {
    let value = (ignored + 1).min(0x7fff);
    let [high, low] = (value as u16).to_be_bytes();
    if value < 0x80 { ([low, 0], 1) } else { ([0x80 | high, low], 2) }
}
