#!lua
-- none -> none: how many jobs may wait in pending at most; an enqueue over it is refused whole
-- KEYS[1] emq:{q}:meta hash
-- ARGV[1] most waiting jobs, or empty for no limit
-- Returns bound
-- Cost O(1)
-- Since 0.1

-- arguments
local limit = ARGV[1]

-- look
-- nothing stored can forbid it

-- act
if limit == '' then
  redis.call('HDEL', KEYS[1], 'limit')
else
  redis.call('HSET', KEYS[1], 'limit', limit)
end
return 'bound'
