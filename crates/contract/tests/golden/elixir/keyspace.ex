# Keys and their slots. Made from keyspace.toml by `echomq contract gen`; not edited by hand.

defmodule Keyspace.Refused do
  @moduledoc "Why a value can not be part of a key. The text quotes it escaped and states the rule."
  defexception [:message]
end

defmodule Keyspace do
  @moduledoc "Keys and their slots."
  import Bitwise

  @doc """
  The slot of a key: CRC16 (XMODEM) of what is between the first { and the next }, if that is not nothing,
  otherwise of the whole key; modulo 16384.
  """
  def slot_of(key) when is_binary(key), do: rem(crc(hashed(key), 0), 16384)

  @doc false
  def check({name, min, max, ranges, alphabet}, value) when is_binary(value) do
    within? = Enum.all?(:binary.bin_to_list(value), fn byte -> Enum.any?(ranges, &(byte in &1)) end)

    if byte_size(value) in min..max//1 and within? do
      :ok
    else
      shown = inspect(value, binaries: :as_strings, printable_limit: 200)
      {:error, %Keyspace.Refused{message: "#{name} #{shown} refused: use #{min} to #{max} bytes of #{alphabet}"}}
    end
  end

  @doc false
  def check!(field, value) do
    case check(field, value) do
      :ok -> value
      {:error, refused} -> raise refused
    end
  end

  defp hashed(key) do
    with [_, rest] <- :binary.split(key, "{"),
         [tag, _] when tag != "" <- :binary.split(rest, "}") do
      tag
    else
      _ -> key
    end
  end

  defp crc(<<>>, crc), do: crc
  defp crc(<<byte, rest::binary>>, crc), do: crc(rest, shift(bxor(crc, byte <<< 8), 8))

  defp shift(crc, 0), do: crc
  defp shift(crc, bits) when (crc &&& 0x8000) == 0, do: shift(crc <<< 1 &&& 0xFFFF, bits - 1)
  defp shift(crc, bits), do: shift(bxor(crc <<< 1, 0x1021) &&& 0xFFFF, bits - 1)
end

defmodule Keyspace.OrderKeys do
  @moduledoc "An order: header, lines, totals, status and history change together"
  @enforce_keys [:value]
  defstruct [:value]

  @doc "What each key holds, as the server's TYPE calls it."
  def types, do: [head: "hash", items: "list", line: "hash", totals: "hash", status: "string", history: "stream", views: "string"]

  @doc "Takes the value of the tag, or says what is wrong with it."
  def new(order) do
    with :ok <- Keyspace.check({"order", 4, 24, [45..45, 48..57, 65..90], "\\-0-9A-Z"}, order) do
      {:ok, %__MODULE__{value: order}}
    end
  end

  @doc "Takes the value of the tag, or raises Keyspace.Refused."
  def new!(order) do
    %__MODULE__{value: Keyspace.check!({"order", 4, 24, [45..45, 48..57, 65..90], "\\-0-9A-Z"}, order)}
  end

  @doc "The slot of every key with the tag."
  def slot(%__MODULE__{} = keys), do: Keyspace.slot_of(keys.value)

  @doc "The keys that stand once and have the tag."
  def all(%__MODULE__{} = keys), do: [head(keys), items(keys), totals(keys), status(keys), history(keys)]

  @doc "hash, order:{order}:head. Customer, currency, address"
  def head(%__MODULE__{} = keys) do
    "order:{" <> keys.value <> "}:head"
  end

  @doc "The names that head had before."
  def head_legacy(%__MODULE__{} = keys) do
    ["order:" <> keys.value]
  end

  @doc "list, order:{order}:items. The numbers of its lines"
  def items(%__MODULE__{} = keys) do
    "order:{" <> keys.value <> "}:items"
  end

  @doc "The names that items had before."
  def items_legacy(%__MODULE__{} = keys) do
    ["order:" <> keys.value <> ":items"]
  end

  @doc "hash, order:{order}:line:<number>. One line"
  def line(%__MODULE__{} = keys, number) do
    Keyspace.check!({"number", 1, 4, [48..57], "0-9"}, number)
    "order:{" <> keys.value <> "}:line:" <> number
  end

  @doc "The names that line had before."
  def line_legacy(%__MODULE__{} = keys, number) do
    Keyspace.check!({"number", 1, 4, [48..57], "0-9"}, number)
    ["order:" <> keys.value <> ":line:" <> number]
  end

  @doc "hash, order:{order}:totals. Net, tax, gross"
  def totals(%__MODULE__{} = keys) do
    "order:{" <> keys.value <> "}:totals"
  end

  @doc "string, order:{order}:status. Where it stands"
  def status(%__MODULE__{} = keys) do
    "order:{" <> keys.value <> "}:status"
  end

  @doc "stream, order:{order}:history. Each change of the status"
  def history(%__MODULE__{} = keys) do
    "order:{" <> keys.value <> "}:history"
  end

  @doc "string, views:<order>. A hot counter, on a slot of its own"
  def views(%__MODULE__{} = keys) do
    "views:" <> keys.value
  end
end

defmodule Keyspace.StockKeys do
  @moduledoc "A stock item: what is there, reserved and sold"
  @enforce_keys [:value]
  defstruct [:value]

  @doc "What each key holds, as the server's TYPE calls it."
  def types, do: [available: "string", reserved: "string", sold: "string", reservation: "hash", changes: "channel"]

  @doc "Takes the value of the tag, or says what is wrong with it."
  def new(sku) do
    with :ok <- Keyspace.check({"sku", 3, 20, [46..46, 48..57, 65..90], ".0-9A-Z"}, sku) do
      {:ok, %__MODULE__{value: sku}}
    end
  end

  @doc "Takes the value of the tag, or raises Keyspace.Refused."
  def new!(sku) do
    %__MODULE__{value: Keyspace.check!({"sku", 3, 20, [46..46, 48..57, 65..90], ".0-9A-Z"}, sku)}
  end

  @doc "The slot of every key with the tag."
  def slot(%__MODULE__{} = keys), do: Keyspace.slot_of("sku:" <> keys.value)

  @doc "The keys that stand once and have the tag."
  def all(%__MODULE__{} = keys), do: [available(keys), reserved(keys), sold(keys), changes(keys)]

  @doc "string, stock:{sku:<sku>}:available. How many can be sold"
  def available(%__MODULE__{} = keys) do
    "stock:{sku:" <> keys.value <> "}:available"
  end

  @doc "string, stock:{sku:<sku>}:reserved. How many are promised"
  def reserved(%__MODULE__{} = keys) do
    "stock:{sku:" <> keys.value <> "}:reserved"
  end

  @doc "string, stock:{sku:<sku>}:sold. How many are gone"
  def sold(%__MODULE__{} = keys) do
    "stock:{sku:" <> keys.value <> "}:sold"
  end

  @doc "hash, stock:{sku:<sku>}:reservation:<id>. Who was promised how many"
  def reservation(%__MODULE__{} = keys, id) do
    Keyspace.check!({"id", 1, 256, [0..255], "\\x00-\\xff"}, id)
    "stock:{sku:" <> keys.value <> "}:reservation:" <> id
  end

  @doc "channel, stock:{sku:<sku>}:changes. Told at each change"
  def changes(%__MODULE__{} = keys) do
    "stock:{sku:" <> keys.value <> "}:changes"
  end
end

defmodule Keyspace.SessionKeys do
  @moduledoc "A session: exactly 32 hexadecimal digits"
  @enforce_keys [:value]
  defstruct [:value]

  @doc "What each key holds, as the server's TYPE calls it."
  def types, do: [data: "hash", user: "string", cart: "hash", expiry: "zset"]

  @doc "Takes the value of the tag, or says what is wrong with it."
  def new(session) do
    with :ok <- Keyspace.check({"session", 32, 32, [48..57, 97..102], "0-9a-f"}, session) do
      {:ok, %__MODULE__{value: session}}
    end
  end

  @doc "Takes the value of the tag, or raises Keyspace.Refused."
  def new!(session) do
    %__MODULE__{value: Keyspace.check!({"session", 32, 32, [48..57, 97..102], "0-9a-f"}, session)}
  end

  @doc "The slot of every key with the tag."
  def slot(%__MODULE__{} = keys), do: Keyspace.slot_of(keys.value)

  @doc "The keys that stand once and have the tag."
  def all(%__MODULE__{} = keys), do: [data(keys), user(keys), cart(keys), expiry(keys)]

  @doc "hash, session:{session}:data."
  def data(%__MODULE__{} = keys) do
    "session:{" <> keys.value <> "}:data"
  end

  @doc "string, session:{session}:user."
  def user(%__MODULE__{} = keys) do
    "session:{" <> keys.value <> "}:user"
  end

  @doc "hash, session:{session}:cart."
  def cart(%__MODULE__{} = keys) do
    "session:{" <> keys.value <> "}:cart"
  end

  @doc "zset, session:{session}:expiry."
  def expiry(%__MODULE__{} = keys) do
    "session:{" <> keys.value <> "}:expiry"
  end
end
