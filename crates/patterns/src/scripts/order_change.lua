#!lua
-- status -> next status, with its entry in the history
-- KEYS[1] order:{order}:head hash
-- KEYS[2] order:{order}:history list
-- ARGV[1] the status that the caller saw
-- ARGV[2] the next one
-- Returns done
-- Returns stands, the status it is in
-- Returns missing
-- Cost O(1)

-- look
local status = redis.call('HGET', KEYS[1], 'status')
if not status then
  return {'missing'}
end
if status ~= ARGV[1] then
  return {'stands', status}
end
local time = redis.call('TIME')
local ms = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))

-- act
redis.call('HSET', KEYS[1], 'status', ARGV[2])
redis.call('RPUSH', KEYS[2], ms .. ' ' .. ARGV[2])
return {'done'}
