#!lua flags=allow-oom
-- reserved -> sold, or reserved -> available
-- KEYS[1] stock:{sku}:reserved string
-- KEYS[2] stock:{sku}:sold or stock:{sku}:available string
-- KEYS[3] stock:{sku}:holds hash
-- ARGV[1] name of the reservation
-- Returns the pieces, or nil when the name holds nothing
-- Cost O(1)

-- look
local held = redis.call('HGET', KEYS[3], ARGV[1])
if not held then
  return nil
end

-- act
redis.call('DECRBY', KEYS[1], held)
redis.call('INCRBY', KEYS[2], held)
redis.call('HDEL', KEYS[3], ARGV[1])
return held
