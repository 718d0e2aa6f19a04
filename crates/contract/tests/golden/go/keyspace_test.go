// Made from keyspace.toml by `echomq contract gen`; not edited by hand.

package keyspace

import (
	"reflect"
	"strings"
	"testing"
)

func same(t *testing.T, found, wanted any) {
	t.Helper()
	if !reflect.DeepEqual(found, wanted) {
		t.Errorf("found %v, wanted %v", found, wanted)
	}
}

func sound[T any](t *testing.T, value T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestSlotsAreThoseOfAServer(t *testing.T) {
	same(t, SlotOf("123456789"), uint16(12739))
	same(t, SlotOf("foo{bar}"), uint16(5061))
	same(t, SlotOf("foo{{bar}}zap"), uint16(4015))
	same(t, SlotOf("foo{}{bar}"), uint16(8363))
	same(t, SlotOf("foo{bar}{zap}"), uint16(5061))
	same(t, SlotOf("{never:closed"), uint16(12))
	same(t, SlotOf("}{a}"), uint16(15495))
	same(t, SlotOf(""), uint16(0))
}

func TestOrderKeysAreAsTheContractSpellsThem(t *testing.T) {
	keys0, err := NewOrderKeys("4HU7")
	sound(t, keys0, err)
	same(t, keys0.Slot(), uint16(9706))
	same(t, len(keys0.All()), 5)
	for _, key := range keys0.All() {
		same(t, SlotOf(key), keys0.Slot())
	}
	same(t, keys0.Head(), "order:{4HU7}:head")
	same(t, keys0.HeadLegacy(), []string{"order:4HU7"})
	same(t, SlotOf("order:{4HU7}:head"), keys0.Slot())
	same(t, keys0.Items(), "order:{4HU7}:items")
	same(t, keys0.ItemsLegacy(), []string{"order:4HU7:items"})
	same(t, SlotOf("order:{4HU7}:items"), keys0.Slot())
	if found, err := keys0.Line("4703"); sound(t, true, err) {
		same(t, found, "order:{4HU7}:line:4703")
	}
	if found, err := keys0.LineLegacy("4703"); sound(t, true, err) {
		same(t, found, []string{"order:4HU7:line:4703"})
	}
	same(t, SlotOf("order:{4HU7}:line:4703"), keys0.Slot())
	same(t, keys0.Totals(), "order:{4HU7}:totals")
	same(t, SlotOf("order:{4HU7}:totals"), keys0.Slot())
	same(t, keys0.Status(), "order:{4HU7}:status")
	same(t, SlotOf("order:{4HU7}:status"), keys0.Slot())
	same(t, keys0.History(), "order:{4HU7}:history")
	same(t, SlotOf("order:{4HU7}:history"), keys0.Slot())
	same(t, keys0.Views(), "views:4HU7")
	keys1, err := NewOrderKeys("6JW9MZ")
	sound(t, keys1, err)
	same(t, keys1.Slot(), uint16(2726))
	same(t, len(keys1.All()), 5)
	for _, key := range keys1.All() {
		same(t, SlotOf(key), keys1.Slot())
	}
	same(t, keys1.Head(), "order:{6JW9MZ}:head")
	same(t, keys1.HeadLegacy(), []string{"order:6JW9MZ"})
	same(t, SlotOf("order:{6JW9MZ}:head"), keys1.Slot())
	same(t, keys1.Items(), "order:{6JW9MZ}:items")
	same(t, keys1.ItemsLegacy(), []string{"order:6JW9MZ:items"})
	same(t, SlotOf("order:{6JW9MZ}:items"), keys1.Slot())
	if found, err := keys1.Line("4703"); sound(t, true, err) {
		same(t, found, "order:{6JW9MZ}:line:4703")
	}
	if found, err := keys1.LineLegacy("4703"); sound(t, true, err) {
		same(t, found, []string{"order:6JW9MZ:line:4703"})
	}
	same(t, SlotOf("order:{6JW9MZ}:line:4703"), keys1.Slot())
	same(t, keys1.Totals(), "order:{6JW9MZ}:totals")
	same(t, SlotOf("order:{6JW9MZ}:totals"), keys1.Slot())
	same(t, keys1.Status(), "order:{6JW9MZ}:status")
	same(t, SlotOf("order:{6JW9MZ}:status"), keys1.Slot())
	same(t, keys1.History(), "order:{6JW9MZ}:history")
	same(t, SlotOf("order:{6JW9MZ}:history"), keys1.Slot())
	same(t, keys1.Views(), "views:6JW9MZ")
	keys2, err := NewOrderKeys("O1ER4HU7KXAN0DQ3GT6JW9MZ")
	sound(t, keys2, err)
	same(t, keys2.Slot(), uint16(12186))
	same(t, len(keys2.All()), 5)
	for _, key := range keys2.All() {
		same(t, SlotOf(key), keys2.Slot())
	}
	same(t, keys2.Head(), "order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:head")
	same(t, keys2.HeadLegacy(), []string{"order:O1ER4HU7KXAN0DQ3GT6JW9MZ"})
	same(t, SlotOf("order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:head"), keys2.Slot())
	same(t, keys2.Items(), "order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:items")
	same(t, keys2.ItemsLegacy(), []string{"order:O1ER4HU7KXAN0DQ3GT6JW9MZ:items"})
	same(t, SlotOf("order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:items"), keys2.Slot())
	if found, err := keys2.Line("4703"); sound(t, true, err) {
		same(t, found, "order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:line:4703")
	}
	if found, err := keys2.LineLegacy("4703"); sound(t, true, err) {
		same(t, found, []string{"order:O1ER4HU7KXAN0DQ3GT6JW9MZ:line:4703"})
	}
	same(t, SlotOf("order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:line:4703"), keys2.Slot())
	same(t, keys2.Totals(), "order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:totals")
	same(t, SlotOf("order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:totals"), keys2.Slot())
	same(t, keys2.Status(), "order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:status")
	same(t, SlotOf("order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:status"), keys2.Slot())
	same(t, keys2.History(), "order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:history")
	same(t, SlotOf("order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:history"), keys2.Slot())
	same(t, keys2.Views(), "views:O1ER4HU7KXAN0DQ3GT6JW9MZ")
}

func TestOrderKeysRefuseValuesThatCouldBreakAKey(t *testing.T) {
	for _, value := range []string{"", strings.Repeat("0", 3), strings.Repeat("0", 25), "000{", "000}", "000 ", "000\x0a", "000\xc3\xa9", strings.Repeat("x", 1000)} {
		if _, err := NewOrderKeys(value); err == nil {
			t.Errorf("%q is taken", value)
		}
	}
}

func TestStockKeysAreAsTheContractSpellsThem(t *testing.T) {
	keys0, err := NewStockKeys("3GT")
	sound(t, keys0, err)
	same(t, keys0.Slot(), uint16(10261))
	same(t, len(keys0.All()), 4)
	for _, key := range keys0.All() {
		same(t, SlotOf(key), keys0.Slot())
	}
	same(t, keys0.Available(), "stock:{sku:3GT}:available")
	same(t, SlotOf("stock:{sku:3GT}:available"), keys0.Slot())
	same(t, keys0.Reserved(), "stock:{sku:3GT}:reserved")
	same(t, SlotOf("stock:{sku:3GT}:reserved"), keys0.Slot())
	same(t, keys0.Sold(), "stock:{sku:3GT}:sold")
	same(t, SlotOf("stock:{sku:3GT}:sold"), keys0.Slot())
	if found, err := keys0.Reservation("Oj4Pk5Ql6Rm7Sn8To9UpAVqB"); sound(t, true, err) {
		same(t, found, "stock:{sku:3GT}:reservation:Oj4Pk5Ql6Rm7Sn8To9UpAVqB")
	}
	same(t, SlotOf("stock:{sku:3GT}:reservation:Oj4Pk5Ql6Rm7Sn8To9UpAVqB"), keys0.Slot())
	same(t, keys0.Changes(), "stock:{sku:3GT}:changes")
	same(t, SlotOf("stock:{sku:3GT}:changes"), keys0.Slot())
	keys1, err := NewStockKeys("6JW9MZ")
	sound(t, keys1, err)
	same(t, keys1.Slot(), uint16(2567))
	same(t, len(keys1.All()), 4)
	for _, key := range keys1.All() {
		same(t, SlotOf(key), keys1.Slot())
	}
	same(t, keys1.Available(), "stock:{sku:6JW9MZ}:available")
	same(t, SlotOf("stock:{sku:6JW9MZ}:available"), keys1.Slot())
	same(t, keys1.Reserved(), "stock:{sku:6JW9MZ}:reserved")
	same(t, SlotOf("stock:{sku:6JW9MZ}:reserved"), keys1.Slot())
	same(t, keys1.Sold(), "stock:{sku:6JW9MZ}:sold")
	same(t, SlotOf("stock:{sku:6JW9MZ}:sold"), keys1.Slot())
	if found, err := keys1.Reservation("Oj4Pk5Ql6Rm7Sn8To9UpAVqB"); sound(t, true, err) {
		same(t, found, "stock:{sku:6JW9MZ}:reservation:Oj4Pk5Ql6Rm7Sn8To9UpAVqB")
	}
	same(t, SlotOf("stock:{sku:6JW9MZ}:reservation:Oj4Pk5Ql6Rm7Sn8To9UpAVqB"), keys1.Slot())
	same(t, keys1.Changes(), "stock:{sku:6JW9MZ}:changes")
	same(t, SlotOf("stock:{sku:6JW9MZ}:changes"), keys1.Slot())
	keys2, err := NewStockKeys("KXAN0DQ3GT6JW9MZCP2F")
	sound(t, keys2, err)
	same(t, keys2.Slot(), uint16(11319))
	same(t, len(keys2.All()), 4)
	for _, key := range keys2.All() {
		same(t, SlotOf(key), keys2.Slot())
	}
	same(t, keys2.Available(), "stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:available")
	same(t, SlotOf("stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:available"), keys2.Slot())
	same(t, keys2.Reserved(), "stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:reserved")
	same(t, SlotOf("stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:reserved"), keys2.Slot())
	same(t, keys2.Sold(), "stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:sold")
	same(t, SlotOf("stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:sold"), keys2.Slot())
	if found, err := keys2.Reservation("Oj4Pk5Ql6Rm7Sn8To9UpAVqB"); sound(t, true, err) {
		same(t, found, "stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:reservation:Oj4Pk5Ql6Rm7Sn8To9UpAVqB")
	}
	same(t, SlotOf("stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:reservation:Oj4Pk5Ql6Rm7Sn8To9UpAVqB"), keys2.Slot())
	same(t, keys2.Changes(), "stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:changes")
	same(t, SlotOf("stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:changes"), keys2.Slot())
}

func TestStockKeysRefuseValuesThatCouldBreakAKey(t *testing.T) {
	for _, value := range []string{"", strings.Repeat("0", 2), strings.Repeat("0", 21), "00{", "00}", "00 ", "00\x0a", "00\xc3\xa9", strings.Repeat("x", 1000)} {
		if _, err := NewStockKeys(value); err == nil {
			t.Errorf("%q is taken", value)
		}
	}
}

func TestSessionKeysAreAsTheContractSpellsThem(t *testing.T) {
	keys0, err := NewSessionKeys("05af49e38d27c16b05af49e38d27c16b")
	sound(t, keys0, err)
	same(t, keys0.Slot(), uint16(891))
	same(t, len(keys0.All()), 4)
	for _, key := range keys0.All() {
		same(t, SlotOf(key), keys0.Slot())
	}
	same(t, keys0.Data(), "session:{05af49e38d27c16b05af49e38d27c16b}:data")
	same(t, SlotOf("session:{05af49e38d27c16b05af49e38d27c16b}:data"), keys0.Slot())
	same(t, keys0.User(), "session:{05af49e38d27c16b05af49e38d27c16b}:user")
	same(t, SlotOf("session:{05af49e38d27c16b05af49e38d27c16b}:user"), keys0.Slot())
	same(t, keys0.Cart(), "session:{05af49e38d27c16b05af49e38d27c16b}:cart")
	same(t, SlotOf("session:{05af49e38d27c16b05af49e38d27c16b}:cart"), keys0.Slot())
	same(t, keys0.Expiry(), "session:{05af49e38d27c16b05af49e38d27c16b}:expiry")
	same(t, SlotOf("session:{05af49e38d27c16b05af49e38d27c16b}:expiry"), keys0.Slot())
}

func TestSessionKeysRefuseValuesThatCouldBreakAKey(t *testing.T) {
	for _, value := range []string{"", strings.Repeat("0", 31), strings.Repeat("0", 33), "0000000000000000000000000000000{", "0000000000000000000000000000000}", "0000000000000000000000000000000 ", "0000000000000000000000000000000\x0a", strings.Repeat("x", 1000)} {
		if _, err := NewSessionKeys(value); err == nil {
			t.Errorf("%q is taken", value)
		}
	}
}
