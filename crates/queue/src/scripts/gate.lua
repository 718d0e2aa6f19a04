#!lua
-- none -> none: first step of an enqueue transaction; where the queue takes nothing it leaves a mark, so
-- that the MSETNX after it (whose keys include the mark) writes nothing
-- KEYS[1] emq:{q}:pending zset
-- KEYS[2] emq:{q}:meta hash
-- KEYS[3] emq:{q}:mark:<first id> string, lives inside this transaction only
-- ARGV[1] number of jobs that want in
-- Returns open
-- Returns full
-- Cost O(1)
-- Since 0.1

-- arguments
local count = tonumber(ARGV[1])

-- look
local limit = redis.call('HGET', KEYS[2], 'limit')
if not limit or redis.call('ZCARD', KEYS[1]) + count <= tonumber(limit) then
  return 'open'
end

-- act
redis.call('SET', KEYS[3], 'full')
return 'full'
