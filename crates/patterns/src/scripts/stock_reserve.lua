#!lua
-- available -> reserved: all of the quantity, or nothing
-- KEYS[1] stock:{sku}:available string
-- KEYS[2] stock:{sku}:reserved string
-- KEYS[3] stock:{sku}:holds hash
-- ARGV[1] name of the reservation
-- ARGV[2] pieces
-- Returns held, pieces
-- Returns insufficient, pieces available
-- Returns other, pieces that the name holds
-- Cost O(1)

-- look
local held = redis.call('HGET', KEYS[3], ARGV[1])
if held then
  return {held == ARGV[2] and 'held' or 'other', held}
end
local available = redis.call('GET', KEYS[1]) or '0'
if tonumber(available) < tonumber(ARGV[2]) then
  return {'insufficient', available}
end

-- act
redis.call('DECRBY', KEYS[1], ARGV[2])
redis.call('INCRBY', KEYS[2], ARGV[2])
redis.call('HSET', KEYS[3], ARGV[1], ARGV[2])
return {'held', ARGV[2]}
