#!lua flags=no-writes
-- KEYS[1] session:{session}:expiry string
-- KEYS[2] session:{session}:data hash
-- KEYS[3] session:{session}:user string
-- KEYS[4] session:{session}:cart hash
-- Returns life left in ms, user or nil, data, cart
-- Returns nil when it has ended
-- Cost O(fields)

-- look
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  return nil
end
local user = redis.call('GET', KEYS[3])
return {left, user, redis.call('HGETALL', KEYS[2]), redis.call('HGETALL', KEYS[4])}
