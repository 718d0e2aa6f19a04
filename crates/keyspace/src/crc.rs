//! CRC16-XMODEM.

/// The CRC16 that Valkey and Redis hash keys with: polynomial 0x1021, initial value 0, nothing reflected.
///
/// The check value is `crc16(b"123456789") == 0x31C3`.
pub const fn crc16(bytes: &[u8]) -> u16 {
    let mut crc: u16 = 0;
    let mut i = 0;
    while i < bytes.len() {
        crc ^= (bytes[i] as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 != 0 { (crc << 1) ^ 0x1021 } else { crc << 1 };
            bit += 1;
        }
        i += 1;
    }
    crc
}
