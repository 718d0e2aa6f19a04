package keyspace

import (
	"fmt"
	"strings"
)

// field says what the values of a field may be.
type field struct {
	name     string
	minBytes int
	maxBytes int
	ranges   [][2]byte
	alphabet string
}

// check says why a value can not be part of a key; the text quotes it escaped and states the rule.
func (f field) check(value string) error {
	within := len(value) >= f.minBytes && len(value) <= f.maxBytes
	for i := 0; within && i < len(value); i++ {
		within = f.has(value[i])
	}
	if within {
		return nil
	}
	return fmt.Errorf("%s %+q refused: use %d to %d bytes of %s", f.name, value, f.minBytes, f.maxBytes, f.alphabet)
}

func (f field) has(b byte) bool {
	for _, r := range f.ranges {
		if r[0] <= b && b <= r[1] {
			return true
		}
	}
	return false
}

// SlotOf returns the slot of a key: CRC16 (XMODEM) of what is between the first { and the next }, if that is
// not nothing, otherwise of the whole key; modulo 16384.
func SlotOf(key string) uint16 {
	if open := strings.IndexByte(key, '{'); open >= 0 {
		if length := strings.IndexByte(key[open+1:], '}'); length > 0 {
			key = key[open+1 : open+1+length]
		}
	}
	var crc uint16
	for i := 0; i < len(key); i++ {
		crc ^= uint16(key[i]) << 8
		for bit := 0; bit < 8; bit++ {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc % 16384
}
