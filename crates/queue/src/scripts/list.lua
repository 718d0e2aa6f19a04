#!lua
-- none -> pending: in an enqueue transaction, lists the ids whose rows the MSETNX before it has written,
-- which the mark proves
-- KEYS[1] emq:{q}:pending zset
-- KEYS[2] emq:{q}:meta hash
-- KEYS[3] emq:{q}:mark:<first id> string
-- ARGV[1] same: one rank for all of them (their byte order is the order wanted); each: a rank per id
-- ARGV[2] channel emq:{q}:wake
-- ARGV[3..] the ids
-- Returns added
-- Returns full
-- Returns taken
-- Cost O(n log N)
-- Since 0.1

-- arguments
local each, count = ARGV[1] == 'each', #ARGV - 2

-- look
local mark = redis.call('GET', KEYS[3])
if mark ~= 'ok' then
  return mark or 'taken'
end
local waiting = redis.call('ZCARD', KEYS[1])

-- act
local last = redis.call('HINCRBY', KEYS[2], 'seq', each and count or 1)
local rank, members = string.format('%.0f', last), {}
for i = 1, count do
  members[2 * i - 1] = each and string.format('%.0f', last - count + i) or rank
  members[2 * i] = ARGV[i + 2]
end
redis.call('ZADD', KEYS[1], unpack(members))
if waiting == 0 then
  redis.pcall('SPUBLISH', ARGV[2], ARGV[3])
end
return 'added'
