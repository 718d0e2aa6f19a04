# Tests of keyspace.ex. Made from keyspace.toml by `echomq contract gen`; not edited by hand.

Code.require_file("keyspace.ex", __DIR__)
ExUnit.start()

defmodule KeyspaceTest do
  use ExUnit.Case, async: true

  test "slots are those of a server" do
    assert Keyspace.slot_of("123456789") == 12739
    assert Keyspace.slot_of("foo{bar}") == 5061
    assert Keyspace.slot_of("foo{{bar}}zap") == 4015
    assert Keyspace.slot_of("foo{}{bar}") == 8363
    assert Keyspace.slot_of("foo{bar}{zap}") == 5061
    assert Keyspace.slot_of("{never:closed") == 12
    assert Keyspace.slot_of("}{a}") == 15495
    assert Keyspace.slot_of("") == 0
  end

  test "order keys are as the contract spells them" do
    keys = Keyspace.OrderKeys.new!("4HU7")
    assert Keyspace.OrderKeys.slot(keys) == 9706
    assert length(Keyspace.OrderKeys.all(keys)) == 5
    assert Enum.all?(Keyspace.OrderKeys.all(keys), &(Keyspace.slot_of(&1) == 9706))
    assert Keyspace.OrderKeys.head(keys) == "order:{4HU7}:head"
    assert Keyspace.slot_of("order:{4HU7}:head") == 9706
    assert Keyspace.OrderKeys.head_legacy(keys) == ["order:4HU7"]
    assert Keyspace.OrderKeys.items(keys) == "order:{4HU7}:items"
    assert Keyspace.slot_of("order:{4HU7}:items") == 9706
    assert Keyspace.OrderKeys.items_legacy(keys) == ["order:4HU7:items"]
    assert Keyspace.OrderKeys.line(keys, "4703") == "order:{4HU7}:line:4703"
    assert Keyspace.slot_of("order:{4HU7}:line:4703") == 9706
    assert Keyspace.OrderKeys.line_legacy(keys, "4703") == ["order:4HU7:line:4703"]
    assert Keyspace.OrderKeys.totals(keys) == "order:{4HU7}:totals"
    assert Keyspace.slot_of("order:{4HU7}:totals") == 9706
    assert Keyspace.OrderKeys.status(keys) == "order:{4HU7}:status"
    assert Keyspace.slot_of("order:{4HU7}:status") == 9706
    assert Keyspace.OrderKeys.history(keys) == "order:{4HU7}:history"
    assert Keyspace.slot_of("order:{4HU7}:history") == 9706
    assert Keyspace.OrderKeys.views(keys) == "views:4HU7"
    keys = Keyspace.OrderKeys.new!("6JW9MZ")
    assert Keyspace.OrderKeys.slot(keys) == 2726
    assert length(Keyspace.OrderKeys.all(keys)) == 5
    assert Enum.all?(Keyspace.OrderKeys.all(keys), &(Keyspace.slot_of(&1) == 2726))
    assert Keyspace.OrderKeys.head(keys) == "order:{6JW9MZ}:head"
    assert Keyspace.slot_of("order:{6JW9MZ}:head") == 2726
    assert Keyspace.OrderKeys.head_legacy(keys) == ["order:6JW9MZ"]
    assert Keyspace.OrderKeys.items(keys) == "order:{6JW9MZ}:items"
    assert Keyspace.slot_of("order:{6JW9MZ}:items") == 2726
    assert Keyspace.OrderKeys.items_legacy(keys) == ["order:6JW9MZ:items"]
    assert Keyspace.OrderKeys.line(keys, "4703") == "order:{6JW9MZ}:line:4703"
    assert Keyspace.slot_of("order:{6JW9MZ}:line:4703") == 2726
    assert Keyspace.OrderKeys.line_legacy(keys, "4703") == ["order:6JW9MZ:line:4703"]
    assert Keyspace.OrderKeys.totals(keys) == "order:{6JW9MZ}:totals"
    assert Keyspace.slot_of("order:{6JW9MZ}:totals") == 2726
    assert Keyspace.OrderKeys.status(keys) == "order:{6JW9MZ}:status"
    assert Keyspace.slot_of("order:{6JW9MZ}:status") == 2726
    assert Keyspace.OrderKeys.history(keys) == "order:{6JW9MZ}:history"
    assert Keyspace.slot_of("order:{6JW9MZ}:history") == 2726
    assert Keyspace.OrderKeys.views(keys) == "views:6JW9MZ"
    keys = Keyspace.OrderKeys.new!("O1ER4HU7KXAN0DQ3GT6JW9MZ")
    assert Keyspace.OrderKeys.slot(keys) == 12186
    assert length(Keyspace.OrderKeys.all(keys)) == 5
    assert Enum.all?(Keyspace.OrderKeys.all(keys), &(Keyspace.slot_of(&1) == 12186))
    assert Keyspace.OrderKeys.head(keys) == "order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:head"
    assert Keyspace.slot_of("order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:head") == 12186
    assert Keyspace.OrderKeys.head_legacy(keys) == ["order:O1ER4HU7KXAN0DQ3GT6JW9MZ"]
    assert Keyspace.OrderKeys.items(keys) == "order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:items"
    assert Keyspace.slot_of("order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:items") == 12186
    assert Keyspace.OrderKeys.items_legacy(keys) == ["order:O1ER4HU7KXAN0DQ3GT6JW9MZ:items"]
    assert Keyspace.OrderKeys.line(keys, "4703") == "order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:line:4703"
    assert Keyspace.slot_of("order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:line:4703") == 12186
    assert Keyspace.OrderKeys.line_legacy(keys, "4703") == ["order:O1ER4HU7KXAN0DQ3GT6JW9MZ:line:4703"]
    assert Keyspace.OrderKeys.totals(keys) == "order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:totals"
    assert Keyspace.slot_of("order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:totals") == 12186
    assert Keyspace.OrderKeys.status(keys) == "order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:status"
    assert Keyspace.slot_of("order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:status") == 12186
    assert Keyspace.OrderKeys.history(keys) == "order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:history"
    assert Keyspace.slot_of("order:{O1ER4HU7KXAN0DQ3GT6JW9MZ}:history") == 12186
    assert Keyspace.OrderKeys.views(keys) == "views:O1ER4HU7KXAN0DQ3GT6JW9MZ"
    assert length(Keyspace.OrderKeys.types()) == 7
  end

  test "order values that could break a key are refused" do
    assert {:error, %Keyspace.Refused{}} = Keyspace.OrderKeys.new("")
    assert_raise Keyspace.Refused, fn -> Keyspace.OrderKeys.new!("") end
    assert {:error, %Keyspace.Refused{}} = Keyspace.OrderKeys.new(String.duplicate("0", 3))
    assert_raise Keyspace.Refused, fn -> Keyspace.OrderKeys.new!(String.duplicate("0", 3)) end
    assert {:error, %Keyspace.Refused{}} = Keyspace.OrderKeys.new(String.duplicate("0", 25))
    assert_raise Keyspace.Refused, fn -> Keyspace.OrderKeys.new!(String.duplicate("0", 25)) end
    assert {:error, %Keyspace.Refused{}} = Keyspace.OrderKeys.new("000{")
    assert_raise Keyspace.Refused, fn -> Keyspace.OrderKeys.new!("000{") end
    assert {:error, %Keyspace.Refused{}} = Keyspace.OrderKeys.new("000}")
    assert_raise Keyspace.Refused, fn -> Keyspace.OrderKeys.new!("000}") end
    assert {:error, %Keyspace.Refused{}} = Keyspace.OrderKeys.new("000 ")
    assert_raise Keyspace.Refused, fn -> Keyspace.OrderKeys.new!("000 ") end
    assert {:error, %Keyspace.Refused{}} = Keyspace.OrderKeys.new("000\x0a")
    assert_raise Keyspace.Refused, fn -> Keyspace.OrderKeys.new!("000\x0a") end
    assert {:error, %Keyspace.Refused{}} = Keyspace.OrderKeys.new("000\xc3\xa9")
    assert_raise Keyspace.Refused, fn -> Keyspace.OrderKeys.new!("000\xc3\xa9") end
  end

  test "stock keys are as the contract spells them" do
    keys = Keyspace.StockKeys.new!("3GT")
    assert Keyspace.StockKeys.slot(keys) == 10261
    assert length(Keyspace.StockKeys.all(keys)) == 4
    assert Enum.all?(Keyspace.StockKeys.all(keys), &(Keyspace.slot_of(&1) == 10261))
    assert Keyspace.StockKeys.available(keys) == "stock:{sku:3GT}:available"
    assert Keyspace.slot_of("stock:{sku:3GT}:available") == 10261
    assert Keyspace.StockKeys.reserved(keys) == "stock:{sku:3GT}:reserved"
    assert Keyspace.slot_of("stock:{sku:3GT}:reserved") == 10261
    assert Keyspace.StockKeys.sold(keys) == "stock:{sku:3GT}:sold"
    assert Keyspace.slot_of("stock:{sku:3GT}:sold") == 10261
    assert Keyspace.StockKeys.reservation(keys, "Oj4Pk5Ql6Rm7Sn8To9UpAVqB") == "stock:{sku:3GT}:reservation:Oj4Pk5Ql6Rm7Sn8To9UpAVqB"
    assert Keyspace.slot_of("stock:{sku:3GT}:reservation:Oj4Pk5Ql6Rm7Sn8To9UpAVqB") == 10261
    assert Keyspace.StockKeys.changes(keys) == "stock:{sku:3GT}:changes"
    assert Keyspace.slot_of("stock:{sku:3GT}:changes") == 10261
    keys = Keyspace.StockKeys.new!("6JW9MZ")
    assert Keyspace.StockKeys.slot(keys) == 2567
    assert length(Keyspace.StockKeys.all(keys)) == 4
    assert Enum.all?(Keyspace.StockKeys.all(keys), &(Keyspace.slot_of(&1) == 2567))
    assert Keyspace.StockKeys.available(keys) == "stock:{sku:6JW9MZ}:available"
    assert Keyspace.slot_of("stock:{sku:6JW9MZ}:available") == 2567
    assert Keyspace.StockKeys.reserved(keys) == "stock:{sku:6JW9MZ}:reserved"
    assert Keyspace.slot_of("stock:{sku:6JW9MZ}:reserved") == 2567
    assert Keyspace.StockKeys.sold(keys) == "stock:{sku:6JW9MZ}:sold"
    assert Keyspace.slot_of("stock:{sku:6JW9MZ}:sold") == 2567
    assert Keyspace.StockKeys.reservation(keys, "Oj4Pk5Ql6Rm7Sn8To9UpAVqB") == "stock:{sku:6JW9MZ}:reservation:Oj4Pk5Ql6Rm7Sn8To9UpAVqB"
    assert Keyspace.slot_of("stock:{sku:6JW9MZ}:reservation:Oj4Pk5Ql6Rm7Sn8To9UpAVqB") == 2567
    assert Keyspace.StockKeys.changes(keys) == "stock:{sku:6JW9MZ}:changes"
    assert Keyspace.slot_of("stock:{sku:6JW9MZ}:changes") == 2567
    keys = Keyspace.StockKeys.new!("KXAN0DQ3GT6JW9MZCP2F")
    assert Keyspace.StockKeys.slot(keys) == 11319
    assert length(Keyspace.StockKeys.all(keys)) == 4
    assert Enum.all?(Keyspace.StockKeys.all(keys), &(Keyspace.slot_of(&1) == 11319))
    assert Keyspace.StockKeys.available(keys) == "stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:available"
    assert Keyspace.slot_of("stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:available") == 11319
    assert Keyspace.StockKeys.reserved(keys) == "stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:reserved"
    assert Keyspace.slot_of("stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:reserved") == 11319
    assert Keyspace.StockKeys.sold(keys) == "stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:sold"
    assert Keyspace.slot_of("stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:sold") == 11319
    assert Keyspace.StockKeys.reservation(keys, "Oj4Pk5Ql6Rm7Sn8To9UpAVqB") == "stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:reservation:Oj4Pk5Ql6Rm7Sn8To9UpAVqB"
    assert Keyspace.slot_of("stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:reservation:Oj4Pk5Ql6Rm7Sn8To9UpAVqB") == 11319
    assert Keyspace.StockKeys.changes(keys) == "stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:changes"
    assert Keyspace.slot_of("stock:{sku:KXAN0DQ3GT6JW9MZCP2F}:changes") == 11319
    assert length(Keyspace.StockKeys.types()) == 5
  end

  test "stock values that could break a key are refused" do
    assert {:error, %Keyspace.Refused{}} = Keyspace.StockKeys.new("")
    assert_raise Keyspace.Refused, fn -> Keyspace.StockKeys.new!("") end
    assert {:error, %Keyspace.Refused{}} = Keyspace.StockKeys.new(String.duplicate("0", 2))
    assert_raise Keyspace.Refused, fn -> Keyspace.StockKeys.new!(String.duplicate("0", 2)) end
    assert {:error, %Keyspace.Refused{}} = Keyspace.StockKeys.new(String.duplicate("0", 21))
    assert_raise Keyspace.Refused, fn -> Keyspace.StockKeys.new!(String.duplicate("0", 21)) end
    assert {:error, %Keyspace.Refused{}} = Keyspace.StockKeys.new("00{")
    assert_raise Keyspace.Refused, fn -> Keyspace.StockKeys.new!("00{") end
    assert {:error, %Keyspace.Refused{}} = Keyspace.StockKeys.new("00}")
    assert_raise Keyspace.Refused, fn -> Keyspace.StockKeys.new!("00}") end
    assert {:error, %Keyspace.Refused{}} = Keyspace.StockKeys.new("00 ")
    assert_raise Keyspace.Refused, fn -> Keyspace.StockKeys.new!("00 ") end
    assert {:error, %Keyspace.Refused{}} = Keyspace.StockKeys.new("00\x0a")
    assert_raise Keyspace.Refused, fn -> Keyspace.StockKeys.new!("00\x0a") end
    assert {:error, %Keyspace.Refused{}} = Keyspace.StockKeys.new("00\xc3\xa9")
    assert_raise Keyspace.Refused, fn -> Keyspace.StockKeys.new!("00\xc3\xa9") end
  end

  test "session keys are as the contract spells them" do
    keys = Keyspace.SessionKeys.new!("05af49e38d27c16b05af49e38d27c16b")
    assert Keyspace.SessionKeys.slot(keys) == 891
    assert length(Keyspace.SessionKeys.all(keys)) == 4
    assert Enum.all?(Keyspace.SessionKeys.all(keys), &(Keyspace.slot_of(&1) == 891))
    assert Keyspace.SessionKeys.data(keys) == "session:{05af49e38d27c16b05af49e38d27c16b}:data"
    assert Keyspace.slot_of("session:{05af49e38d27c16b05af49e38d27c16b}:data") == 891
    assert Keyspace.SessionKeys.user(keys) == "session:{05af49e38d27c16b05af49e38d27c16b}:user"
    assert Keyspace.slot_of("session:{05af49e38d27c16b05af49e38d27c16b}:user") == 891
    assert Keyspace.SessionKeys.cart(keys) == "session:{05af49e38d27c16b05af49e38d27c16b}:cart"
    assert Keyspace.slot_of("session:{05af49e38d27c16b05af49e38d27c16b}:cart") == 891
    assert Keyspace.SessionKeys.expiry(keys) == "session:{05af49e38d27c16b05af49e38d27c16b}:expiry"
    assert Keyspace.slot_of("session:{05af49e38d27c16b05af49e38d27c16b}:expiry") == 891
    assert length(Keyspace.SessionKeys.types()) == 4
  end

  test "session values that could break a key are refused" do
    assert {:error, %Keyspace.Refused{}} = Keyspace.SessionKeys.new("")
    assert_raise Keyspace.Refused, fn -> Keyspace.SessionKeys.new!("") end
    assert {:error, %Keyspace.Refused{}} = Keyspace.SessionKeys.new(String.duplicate("0", 31))
    assert_raise Keyspace.Refused, fn -> Keyspace.SessionKeys.new!(String.duplicate("0", 31)) end
    assert {:error, %Keyspace.Refused{}} = Keyspace.SessionKeys.new(String.duplicate("0", 33))
    assert_raise Keyspace.Refused, fn -> Keyspace.SessionKeys.new!(String.duplicate("0", 33)) end
    assert {:error, %Keyspace.Refused{}} = Keyspace.SessionKeys.new("0000000000000000000000000000000{")
    assert_raise Keyspace.Refused, fn -> Keyspace.SessionKeys.new!("0000000000000000000000000000000{") end
    assert {:error, %Keyspace.Refused{}} = Keyspace.SessionKeys.new("0000000000000000000000000000000}")
    assert_raise Keyspace.Refused, fn -> Keyspace.SessionKeys.new!("0000000000000000000000000000000}") end
    assert {:error, %Keyspace.Refused{}} = Keyspace.SessionKeys.new("0000000000000000000000000000000 ")
    assert_raise Keyspace.Refused, fn -> Keyspace.SessionKeys.new!("0000000000000000000000000000000 ") end
    assert {:error, %Keyspace.Refused{}} = Keyspace.SessionKeys.new("0000000000000000000000000000000\x0a")
    assert_raise Keyspace.Refused, fn -> Keyspace.SessionKeys.new!("0000000000000000000000000000000\x0a") end
  end
end
