// Package keyspace builds keys and knows their slots.
//
// Made from keyspace.toml by `echomq contract gen`; not edited by hand.
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

// OrderKeys: An order: header, lines, totals, status and history change together
type OrderKeys struct {
	value string
}

// OrderKeysTypes tells what each key holds, as the server's TYPE calls it.
var OrderKeysTypes = [][2]string{
	{"head", "hash"},
	{"items", "list"},
	{"line", "hash"},
	{"totals", "hash"},
	{"status", "string"},
	{"history", "stream"},
	{"views", "string"},
}

// NewOrderKeys takes the value of the tag, or says what is wrong with it.
func NewOrderKeys(order string) (OrderKeys, error) {
	if err := (field{"order", 4, 24, [][2]byte{{45, 45}, {48, 57}, {65, 90}}, "\\-0-9A-Z"}).check(order); err != nil {
		return OrderKeys{}, err
	}
	return OrderKeys{value: order}, nil
}

// Slot returns the slot of every key with the tag.
func (k OrderKeys) Slot() uint16 {
	return SlotOf(k.value)
}

// All returns the keys that stand once and have the tag.
func (k OrderKeys) All() []string {
	return []string{k.Head(), k.Items(), k.Totals(), k.Status(), k.History()}
}

// Head: hash, order:{order}:head. Customer, currency, address
func (k OrderKeys) Head() string {
	return "order:{" + k.value + "}:head"
}

// HeadLegacy returns the names that Head had before.
func (k OrderKeys) HeadLegacy() []string {
	return []string{"order:" + k.value}
}

// Items: list, order:{order}:items. The numbers of its lines
func (k OrderKeys) Items() string {
	return "order:{" + k.value + "}:items"
}

// ItemsLegacy returns the names that Items had before.
func (k OrderKeys) ItemsLegacy() []string {
	return []string{"order:" + k.value + ":items"}
}

// Line: hash, order:{order}:line:<number>. One line
func (k OrderKeys) Line(number string) (string, error) {
	if err := (field{"number", 1, 4, [][2]byte{{48, 57}}, "0-9"}).check(number); err != nil {
		return "", err
	}
	return "order:{" + k.value + "}:line:" + number, nil
}

// LineLegacy returns the names that Line had before.
func (k OrderKeys) LineLegacy(number string) ([]string, error) {
	if err := (field{"number", 1, 4, [][2]byte{{48, 57}}, "0-9"}).check(number); err != nil {
		return nil, err
	}
	return []string{"order:" + k.value + ":line:" + number}, nil
}

// Totals: hash, order:{order}:totals. Net, tax, gross
func (k OrderKeys) Totals() string {
	return "order:{" + k.value + "}:totals"
}

// Status: string, order:{order}:status. Where it stands
func (k OrderKeys) Status() string {
	return "order:{" + k.value + "}:status"
}

// History: stream, order:{order}:history. Each change of the status
func (k OrderKeys) History() string {
	return "order:{" + k.value + "}:history"
}

// Views: string, views:<order>. A hot counter, on a slot of its own
func (k OrderKeys) Views() string {
	return "views:" + k.value
}

// StockKeys: A stock item: what is there, reserved and sold
type StockKeys struct {
	value string
}

// StockKeysTypes tells what each key holds, as the server's TYPE calls it.
var StockKeysTypes = [][2]string{
	{"available", "string"},
	{"reserved", "string"},
	{"sold", "string"},
	{"reservation", "hash"},
	{"changes", "channel"},
}

// NewStockKeys takes the value of the tag, or says what is wrong with it.
func NewStockKeys(sku string) (StockKeys, error) {
	if err := (field{"sku", 3, 20, [][2]byte{{46, 46}, {48, 57}, {65, 90}}, ".0-9A-Z"}).check(sku); err != nil {
		return StockKeys{}, err
	}
	return StockKeys{value: sku}, nil
}

// Slot returns the slot of every key with the tag.
func (k StockKeys) Slot() uint16 {
	return SlotOf("sku:" + k.value)
}

// All returns the keys that stand once and have the tag.
func (k StockKeys) All() []string {
	return []string{k.Available(), k.Reserved(), k.Sold(), k.Changes()}
}

// Available: string, stock:{sku:<sku>}:available. How many can be sold
func (k StockKeys) Available() string {
	return "stock:{sku:" + k.value + "}:available"
}

// Reserved: string, stock:{sku:<sku>}:reserved. How many are promised
func (k StockKeys) Reserved() string {
	return "stock:{sku:" + k.value + "}:reserved"
}

// Sold: string, stock:{sku:<sku>}:sold. How many are gone
func (k StockKeys) Sold() string {
	return "stock:{sku:" + k.value + "}:sold"
}

// Reservation: hash, stock:{sku:<sku>}:reservation:<id>. Who was promised how many
func (k StockKeys) Reservation(id string) (string, error) {
	if err := (field{"id", 1, 256, [][2]byte{{0, 255}}, "\\x00-\\xff"}).check(id); err != nil {
		return "", err
	}
	return "stock:{sku:" + k.value + "}:reservation:" + id, nil
}

// Changes: channel, stock:{sku:<sku>}:changes. Told at each change
func (k StockKeys) Changes() string {
	return "stock:{sku:" + k.value + "}:changes"
}

// SessionKeys: A session: exactly 32 hexadecimal digits
type SessionKeys struct {
	value string
}

// SessionKeysTypes tells what each key holds, as the server's TYPE calls it.
var SessionKeysTypes = [][2]string{
	{"data", "hash"},
	{"user", "string"},
	{"cart", "hash"},
	{"expiry", "zset"},
}

// NewSessionKeys takes the value of the tag, or says what is wrong with it.
func NewSessionKeys(session string) (SessionKeys, error) {
	if err := (field{"session", 32, 32, [][2]byte{{48, 57}, {97, 102}}, "0-9a-f"}).check(session); err != nil {
		return SessionKeys{}, err
	}
	return SessionKeys{value: session}, nil
}

// Slot returns the slot of every key with the tag.
func (k SessionKeys) Slot() uint16 {
	return SlotOf(k.value)
}

// All returns the keys that stand once and have the tag.
func (k SessionKeys) All() []string {
	return []string{k.Data(), k.User(), k.Cart(), k.Expiry()}
}

// Data: hash, session:{session}:data.
func (k SessionKeys) Data() string {
	return "session:{" + k.value + "}:data"
}

// User: string, session:{session}:user.
func (k SessionKeys) User() string {
	return "session:{" + k.value + "}:user"
}

// Cart: hash, session:{session}:cart.
func (k SessionKeys) Cart() string {
	return "session:{" + k.value + "}:cart"
}

// Expiry: zset, session:{session}:expiry.
func (k SessionKeys) Expiry() string {
	return "session:{" + k.value + "}:expiry"
}
