#!lua flags=allow-oom
-- none -> none: claims are answered again
-- KEYS[1] emq:{q}:meta hash
-- ARGV[1] channel emq:{q}:wake
-- Returns resumed
-- Returns already
-- Cost O(1)
-- Since 0.1

-- arguments
local channel = ARGV[1]

-- look
if redis.call('HEXISTS', KEYS[1], 'paused') == 0 then
  return 'already'
end

-- act
redis.call('HDEL', KEYS[1], 'paused')
redis.pcall('SPUBLISH', channel, '')
return 'resumed'
