#!lua flags=allow-oom
-- none -> none: claims answer paused from now on; jobs can still be added
-- KEYS[1] emq:{q}:meta hash
-- ARGV[1] now ms, or empty for the server's clock
-- ARGV[2] who pauses, in words
-- Returns paused
-- Returns already, since when and by whom
-- Cost O(1)
-- Since 0.1

-- arguments
local now, who = ARGV[1], ARGV[2]

-- look
local paused = redis.call('HGET', KEYS[1], 'paused')
if paused then
  return {'already', paused}
end
if now == '' then
  local time = redis.call('TIME')
  now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
end

-- act
redis.call('HSET', KEYS[1], 'paused', now .. ' ' .. who)
return {'paused'}
