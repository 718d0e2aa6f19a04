#!lua flags=allow-oom
-- schedule -> pending: jobs that are due, in one bounded step
-- KEYS[1] emq:{q}:schedule zset
-- KEYS[2] emq:{q}:pending zset
-- KEYS[3] emq:{q}:meta hash
-- KEYS[4] emq:{q}:tries hash
-- ARGV[1] now ms, or empty for the server's clock
-- ARGV[2] most jobs to promote
-- ARGV[3] channel emq:{q}:wake
-- Returns promoted, how many, ms until the next is due or empty
-- Cost O(n log N)
-- Since 0.1

-- arguments
local now, most = tonumber(ARGV[1]), tonumber(ARGV[2])

-- look
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local ids = redis.call('ZRANGE', KEYS[1], '-inf', string.format('%.0f', now), 'BYSCORE', 'LIMIT', 0, most)
local count = #ids
local after = redis.call('ZRANGE', KEYS[1], count, count, 'WITHSCORES')
local wait = after[2] and string.format('%.0f', math.max(0, after[2] - now)) or ''
if count == 0 then
  return {'promoted', 0, wait}
end
local tries = redis.call('HMGET', KEYS[4], unpack(ids))
local seq = tonumber(redis.call('HGET', KEYS[3], 'seq') or 0)
local waiting, members = redis.call('ZCARD', KEYS[2]), {}
for i = 1, count do
  local priority = string.match(tries[i] or '', '^%d+ %d+ %d+ (%-?%d+) ') or 0
  members[2 * i - 1] = string.format('%.0f', priority * 2 ^ 40 + seq + i)
  members[2 * i] = ids[i]
end

-- act
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, count - 1)
redis.call('ZADD', KEYS[2], unpack(members))
redis.call('HINCRBY', KEYS[3], 'seq', count)
if waiting == 0 then
  redis.pcall('SPUBLISH', ARGV[3], '')
end
return {'promoted', count, wait}
