#!lua
-- Writes what is there over itself, since only a write can be confirmed.
-- KEYS[1] the new name
-- Returns 1, or 0 when it has no value

-- look
local dump = redis.call('DUMP', KEYS[1])
local ttl = redis.call('PTTL', KEYS[1])
if not dump then
  return 0
end

-- act
redis.call('RESTORE', KEYS[1], ttl == -1 and 0 or math.max(ttl, 1), dump, 'REPLACE')
return 1
