
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
