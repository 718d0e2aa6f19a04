#!lua
-- none -> placed: header, items, totals and the first entry of the history
-- KEYS[1] order:{order}:head hash
-- KEYS[2] order:{order}:items hash
-- KEYS[3] order:{order}:totals hash
-- KEYS[4] order:{order}:history list
-- ARGV[1] pieces
-- ARGV[2] cents
-- ARGV[3..] article, `quantity cents`, and so on, at most 1,000 pairs
-- Returns placed
-- Returns exists
-- Cost O(items)

-- look
if redis.call('EXISTS', KEYS[1]) == 1 then
  return 'exists'
end
local time = redis.call('TIME')
local ms = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))

-- act
redis.call('HSET', KEYS[1], 'status', 'placed', 'placed_ms', ms)
redis.call('HSET', KEYS[2], unpack(ARGV, 3))
redis.call('HSET', KEYS[3], 'quantity', ARGV[1], 'cents', ARGV[2])
redis.call('RPUSH', KEYS[4], ms .. ' placed')
return 'placed'
