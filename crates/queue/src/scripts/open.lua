#!lua flags=allow-oom
-- none -> none: claims the stored layout for this queue, or tells which one holds it
-- KEYS[1] emq:{q}:meta hash
-- ARGV[1] layout version of the caller, whole number
-- ARGV[2] kind that the queue is to fix, three letters, or empty
-- Returns open, producer number, fixed kind or empty, the server's ms
-- Returns layout, the version stored
-- Returns kind, the kind fixed before
-- Cost O(1)
-- Since 0.1

-- arguments
local layout, kind = ARGV[1], ARGV[2]

-- look
local meta = redis.call('HMGET', KEYS[1], 'layout', 'kind')
if meta[1] and meta[1] ~= layout then
  return {'layout', meta[1]}
end
if kind ~= '' and meta[2] and meta[2] ~= kind then
  return {'kind', meta[2]}
end
local time = redis.call('TIME')

-- act
if not meta[1] then
  redis.call('HSET', KEYS[1], 'layout', layout)
end
if kind ~= '' and not meta[2] then
  redis.call('HSET', KEYS[1], 'kind', kind)
end
local producer = redis.call('HINCRBY', KEYS[1], 'producers', 1)
return {'open', producer, meta[2] or kind, time[1] * 1000 + math.floor(time[2] / 1000)}
