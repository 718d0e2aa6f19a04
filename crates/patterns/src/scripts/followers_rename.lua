#!lua
-- a member -> the same under another name
-- KEYS[1] followers:{user}:<number> set, the share of the old name
-- KEYS[2] followers:{user}:<number> set, the share of the new one
-- ARGV[1] old name
-- ARGV[2] new name
-- Returns 1, or 0 when the old name is no member
-- Cost O(1)

-- look
if redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 0 then
  return 0
end

-- act
redis.call('SREM', KEYS[1], ARGV[1])
redis.call('SADD', KEYS[2], ARGV[2])
return 1
