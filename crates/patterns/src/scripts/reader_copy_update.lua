#!lua
-- version n -> version n + 1
-- KEYS[1] page:{page}:text hash
-- ARGV[1] the version that the caller saw, 0 for none
-- ARGV[2] body
-- Returns 1 and the new version
-- Returns 0 and the version that stands
-- Cost O(1)

-- look
local stands = redis.call('HGET', KEYS[1], 'version') or '0'
if stands ~= ARGV[1] then
  return {0, stands}
end

-- act
local version = redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('HSET', KEYS[1], 'body', ARGV[2])
return {1, version}
