// Tests of keyspace.mjs. Made from keyspace.toml by `echomq contract gen`; not edited by hand.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Refused, slotOf, OrderKeys, StockKeys, SessionKeys } from "./keyspace.mjs";

test("slots are those of a server", () => {
    assert.equal(slotOf("123456789"), 12739);
    assert.equal(slotOf("foo{bar}"), 5061);
    assert.equal(slotOf("foo{{bar}}zap"), 4015);
    assert.equal(slotOf("foo{}{bar}"), 8363);
    assert.equal(slotOf("foo{bar}{zap}"), 5061);
    assert.equal(slotOf("{never:closed"), 12);
    assert.equal(slotOf("}{a}"), 15495);
    assert.equal(slotOf(""), 0);
});

test("OrderKeys are as the contract spells them", () => {
    {
        const keys = new OrderKeys("4HU7");
        assert.equal(keys.slot, 9706);
        assert.equal(keys.all().length, 5);
        assert.ok(keys.all().every((key) => slotOf(key) === keys.slot));
        assert.equal(keys.head(), "order:{4HU7}:head");
        assert.equal(slotOf("order:{4HU7}:head"), keys.slot);
        assert.deepEqual(keys.headLegacy(), ["order:4HU7"]);
        assert.equal(keys.items(), "order:{4HU7}:items");
        assert.equal(slotOf("order:{4HU7}:items"), keys.slot);
        assert.deepEqual(keys.itemsLegacy(), ["order:4HU7:items"]);
        assert.equal(keys.line("4703"), "order:{4HU7}:line:4703");
        assert.equal(slotOf("order:{4HU7}:line:4703"), keys.slot);
        assert.deepEqual(keys.lineLegacy("4703"), ["order:4HU7:line:4703"]);
        assert.equal(keys.totals(), "order:{4HU7}:totals");
        assert.equal(slotOf("order:{4HU7}:totals"), keys.slot);
        assert.equal(keys.status(), "order:{4HU7}:status");
        assert.equal(slotOf("order:{4HU7}:status"), keys.slot);
        assert.equal(keys.history(), "order:{4HU7}:history");
        assert.equal(slotOf("order:{4HU7}:history"), keys.slot);
        assert.equal(keys.views(), "views:4HU7");
    }
    {
        const keys = new OrderKeys("6JW9MZ");
        assert.equal(keys.slot, 2726);
        assert.equal(keys.all().length, 5);
        assert.ok(keys.all().every((key) => slotOf(key) === keys.slot));
        assert.equal(keys.head(), "order:{6JW9MZ}:head");
        assert.equal(slotOf("order:{6JW9MZ}:head"), keys.slot);
        assert.deepEqual(keys.headLegacy(), ["order:6JW9MZ"]);
        assert.equal(keys.items(), "order:{6JW9MZ}:items");
        assert.equal(slotOf("order:{6JW9MZ}:items"), keys.slot);
        assert.deepEqual(keys.itemsLegacy(), ["order:6JW9MZ:items"]);
        assert.equal(keys.line("4703"), "order:{6JW9MZ}:line:4703");
        assert.equal(slotOf("order:{6JW9MZ}:line:4703"), keys.slot);
        assert.deepEqual(keys.lineLegacy("4703"), ["order:6JW9MZ:line:4703"]);
        assert.equal(keys.totals(), "order:{6JW9MZ}:totals");
        assert.equal(slotOf("order:{6JW9MZ}:totals"), keys.slot);
        assert.equal(keys.status(), "order:{6JW9MZ}:status");
        assert.equal(slotOf("order:{6JW9MZ}:status"), keys.slot);
        assert.equal(keys.history(), "order:{6JW9MZ}:history");
        assert.equal(slotOf("order:{6JW9MZ}:history"), keys.slot);
        assert.equal(keys.views(), "views:6JW9MZ");
    }
    {
        const keys = new OrderKeys("O1ER4HU7KXAN0DQ3GT6JW9MZ");
        assert.equal(keys.slot, 12186);
        assert.equal(keys.all().length, 5);
        assert.ok(keys.all().every((key) => slotOf(key) === keys.slot));
        assert.equal(keys.head(), "order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:head");
        assert.equal(slotOf("order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:head"), keys.slot);
        assert.deepEqual(keys.headLegacy(), ["order:O1ER4HU7KXAN0DQ3GT6JW9MZ"]);
        assert.equal(keys.items(), "order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:items");
        assert.equal(slotOf("order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:items"), keys.slot);
        assert.deepEqual(keys.itemsLegacy(), ["order:O1ER4HU7KXAN0DQ3GT6JW9MZ:items"]);
        assert.equal(keys.line("4703"), "order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:line:4703");
        assert.equal(slotOf("order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:line:4703"), keys.slot);
        assert.deepEqual(keys.lineLegacy("4703"), ["order:O1ER4HU7KXAN0DQ3GT6JW9MZ:line:4703"]);
        assert.equal(keys.totals(), "order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:totals");
        assert.equal(slotOf("order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:totals"), keys.slot);
        assert.equal(keys.status(), "order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:status");
        assert.equal(slotOf("order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:status"), keys.slot);
        assert.equal(keys.history(), "order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:history");
        assert.equal(slotOf("order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:history"), keys.slot);
        assert.equal(keys.views(), "views:O1ER4HU7KXAN0DQ3GT6JW9MZ");
    }
});

test("OrderKeys refuse values that could break a key", () => {
    assert.throws(() => new OrderKeys(""), Refused);
    assert.throws(() => new OrderKeys("0".repeat(3)), Refused);
    assert.throws(() => new OrderKeys("0".repeat(25)), Refused);
    assert.throws(() => new OrderKeys("000{"), Refused);
    assert.throws(() => new OrderKeys("000}"), Refused);
    assert.throws(() => new OrderKeys("000 "), Refused);
    assert.throws(() => new OrderKeys("000\u{a}"), Refused);
    assert.throws(() => new OrderKeys("000\u{e9}"), Refused);
});

test("StockKeys are as the contract spells them", () => {
    {
        const keys = new StockKeys("3GT");
        assert.equal(keys.slot, 10261);
        assert.equal(keys.all().length, 4);
        assert.ok(keys.all().every((key) => slotOf(key) === keys.slot));
        assert.equal(keys.available(), "stock:{sku:3GT}:available");
        assert.equal(slotOf("stock:{sku:3GT}:available"), keys.slot);
        assert.equal(keys.reserved(), "stock:{sku:3GT}:reserved");
        assert.equal(slotOf("stock:{sku:3GT}:reserved"), keys.slot);
        assert.equal(keys.sold(), "stock:{sku:3GT}:sold");
        assert.equal(slotOf("stock:{sku:3GT}:sold"), keys.slot);
        assert.equal(keys.reservation("Oj4Pk5Ql6Rm7Sn8To9UpAVqB"), "stock:{sku:3GT}:reservation:Oj4Pk5Ql6Rm7Sn8To9UpAVqB");
        assert.equal(slotOf("stock:{sku:3GT}:reservation:Oj4Pk5Ql6Rm7Sn8To9UpAVqB"), keys.slot);
        assert.equal(keys.changes(), "stock:{sku:3GT}:changes");
        assert.equal(slotOf("stock:{sku:3GT}:changes"), keys.slot);
    }
    {
        const keys = new StockKeys("6JW9MZ");
        assert.equal(keys.slot, 2567);
        assert.equal(keys.all().length, 4);
        assert.ok(keys.all().every((key) => slotOf(key) === keys.slot));
        assert.equal(keys.available(), "stock:{sku:6JW9MZ}:available");
        assert.equal(slotOf("stock:{sku:6JW9MZ}:available"), keys.slot);
        assert.equal(keys.reserved(), "stock:{sku:6JW9MZ}:reserved");
        assert.equal(slotOf("stock:{sku:6JW9MZ}:reserved"), keys.slot);
        assert.equal(keys.sold(), "stock:{sku:6JW9MZ}:sold");
        assert.equal(slotOf("stock:{sku:6JW9MZ}:sold"), keys.slot);
        assert.equal(keys.reservation("Oj4Pk5Ql6Rm7Sn8To9UpAVqB"), "stock:{sku:6JW9MZ}:reservation:Oj4Pk5Ql6Rm7Sn8To9UpAVqB");
        assert.equal(slotOf("stock:{sku:6JW9MZ}:reservation:Oj4Pk5Ql6Rm7Sn8To9UpAVqB"), keys.slot);
        assert.equal(keys.changes(), "stock:{sku:6JW9MZ}:changes");
        assert.equal(slotOf("stock:{sku:6JW9MZ}:changes"), keys.slot);
    }
    {
        const keys = new StockKeys("KXAN0DQ3GT6JW9MZCP2F");
        assert.equal(keys.slot, 11319);
        assert.equal(keys.all().length, 4);
        assert.ok(keys.all().every((key) => slotOf(key) === keys.slot));
        assert.equal(keys.available(), "stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:available");
        assert.equal(slotOf("stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:available"), keys.slot);
        assert.equal(keys.reserved(), "stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:reserved");
        assert.equal(slotOf("stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:reserved"), keys.slot);
        assert.equal(keys.sold(), "stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:sold");
        assert.equal(slotOf("stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:sold"), keys.slot);
        assert.equal(keys.reservation("Oj4Pk5Ql6Rm7Sn8To9UpAVqB"), "stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:reservation:Oj4Pk5Ql6Rm7Sn8To9UpAVqB");
        assert.equal(slotOf("stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:reservation:Oj4Pk5Ql6Rm7Sn8To9UpAVqB"), keys.slot);
        assert.equal(keys.changes(), "stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:changes");
        assert.equal(slotOf("stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:changes"), keys.slot);
    }
});

test("StockKeys refuse values that could break a key", () => {
    assert.throws(() => new StockKeys(""), Refused);
    assert.throws(() => new StockKeys("0".repeat(2)), Refused);
    assert.throws(() => new StockKeys("0".repeat(21)), Refused);
    assert.throws(() => new StockKeys("00{"), Refused);
    assert.throws(() => new StockKeys("00}"), Refused);
    assert.throws(() => new StockKeys("00 "), Refused);
    assert.throws(() => new StockKeys("00\u{a}"), Refused);
    assert.throws(() => new StockKeys("00\u{e9}"), Refused);
});

test("SessionKeys are as the contract spells them", () => {
    {
        const keys = new SessionKeys("05af49e38d27c16b05af49e38d27c16b");
        assert.equal(keys.slot, 891);
        assert.equal(keys.all().length, 4);
        assert.ok(keys.all().every((key) => slotOf(key) === keys.slot));
        assert.equal(keys.data(), "session:{05af49e38d27c16b05af49e38d27c16b}:data");
        assert.equal(slotOf("session:{05af49e38d27c16b05af49e38d27c16b}:data"), keys.slot);
        assert.equal(keys.user(), "session:{05af49e38d27c16b05af49e38d27c16b}:user");
        assert.equal(slotOf("session:{05af49e38d27c16b05af49e38d27c16b}:user"), keys.slot);
        assert.equal(keys.cart(), "session:{05af49e38d27c16b05af49e38d27c16b}:cart");
        assert.equal(slotOf("session:{05af49e38d27c16b05af49e38d27c16b}:cart"), keys.slot);
        assert.equal(keys.expiry(), "session:{05af49e38d27c16b05af49e38d27c16b}:expiry");
        assert.equal(slotOf("session:{05af49e38d27c16b05af49e38d27c16b}:expiry"), keys.slot);
    }
});

test("SessionKeys refuse values that could break a key", () => {
    assert.throws(() => new SessionKeys(""), Refused);
    assert.throws(() => new SessionKeys("0".repeat(31)), Refused);
    assert.throws(() => new SessionKeys("0".repeat(33)), Refused);
    assert.throws(() => new SessionKeys("0000000000000000000000000000000{"), Refused);
    assert.throws(() => new SessionKeys("0000000000000000000000000000000}"), Refused);
    assert.throws(() => new SessionKeys("0000000000000000000000000000000 "), Refused);
    assert.throws(() => new SessionKeys("0000000000000000000000000000000\u{a}"), Refused);
});
