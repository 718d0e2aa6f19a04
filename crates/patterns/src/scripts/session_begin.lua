#!lua
-- none -> a session that ends by itself
-- KEYS[1] session:{session}:expiry string
-- KEYS[2] session:{session}:data hash
-- KEYS[3] session:{session}:user string
-- KEYS[4] session:{session}:cart hash
-- ARGV[1] life in ms
-- Returns 1, or 0 when it lives already
-- Cost O(1)

-- look
if redis.call('EXISTS', KEYS[1]) == 1 then
  return 0
end
local time = redis.call('TIME')
local ends = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[1])

-- act
-- What another program may have left here is not part of the new session.
redis.call('UNLINK', KEYS[2], KEYS[3], KEYS[4])
redis.call('SET', KEYS[1], ends, 'PXAT', ends)
return 1
