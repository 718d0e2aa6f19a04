#!lua
-- a session that lives -> the same, with a field changed
-- KEYS[1] session:{session}:expiry string
-- KEYS[2] session:{session}:data or session:{session}:cart hash
-- ARGV[1] HSET or HINCRBY
-- ARGV[2] field
-- ARGV[3] value, or the number to add
-- Returns 1, or 0 when it has ended
-- Cost O(1)

-- look
local ends = redis.call('GET', KEYS[1])
if not ends then
  return 0
end

-- act
redis.call(ARGV[1], KEYS[2], ARGV[2], ARGV[3])
redis.call('PEXPIREAT', KEYS[2], ends)
return 1
