#!lua
-- none, or an older version -> this one
-- KEYS[1] hot:<name>:<entity>:<suffix> hash
-- ARGV[1] version
-- ARGV[2] value
-- Returns nil, or the version that stands and is not older
-- Cost O(1)

-- look
local stands = redis.call('HGET', KEYS[1], 'version')
if stands and tonumber(stands) >= tonumber(ARGV[1]) then
  return stands
end

-- act
redis.call('HSET', KEYS[1], 'version', ARGV[1], 'value', ARGV[2])
return nil
