#!lua flags=no-writes
-- none -> none: how many jobs are in each state, since when the first of each, and the queue's meta
-- KEYS[1] emq:{q}:pending zset
-- KEYS[2] emq:{q}:active zset
-- KEYS[3] emq:{q}:schedule zset
-- KEYS[4] emq:{q}:dead zset
-- KEYS[5] emq:{q}:leases zset
-- KEYS[6] emq:{q}:meta hash
-- ARGV none
-- Returns counts, per state how many; next due ms or empty; live claims; meta as names and values
-- Cost O(log N), meta is of bounded size
-- Since 0.1

-- arguments
local reply = {'counts'}

-- look
for i = 1, 4 do
  reply[i + 1] = redis.call('ZCARD', KEYS[i])
end
reply[6] = redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')[2] or ''
reply[7] = redis.call('ZCARD', KEYS[5])
reply[8] = redis.call('HGETALL', KEYS[6])

-- act
return reply
