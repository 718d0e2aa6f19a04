#!lua flags=allow-oom
-- pending -> active: the first n jobs, under one new token and one lease
-- KEYS[1] emq:{q}:pending zset
-- KEYS[2] emq:{q}:active zset
-- KEYS[3] emq:{q}:leases zset
-- KEYS[4] emq:{q}:meta hash
-- KEYS[5] emq:{q}:tries hash
-- ARGV[1] most jobs to take, 1 or more
-- ARGV[2] lease ms
-- ARGV[3] owner, the worker's name
-- ARGV[4] now ms, or empty for the server's clock
-- Returns claimed, token, ids, and where some job has been tried before: their tries, in the same order
-- Returns empty
-- Returns paused
-- Cost O(n log N)
-- Since 0.1

-- arguments
local most, lease, owner = math.max(1, tonumber(ARGV[1])), tonumber(ARGV[2]), ARGV[3]

-- look
local meta = redis.call('HMGET', KEYS[4], 'paused', 'token')
if meta[1] then
  return {'paused'}
end
local ids = redis.call('ZRANGE', KEYS[1], 0, most - 1)
local count = #ids
if count == 0 then
  return {'empty'}
end
local now = tonumber(ARGV[4])
local micros = now and now * 1000
if not micros then
  local time = redis.call('TIME')
  micros = time[1] * 1000000 + time[2]
end
local next_token = meta[2] and meta[2] + 1 or 1
if micros > next_token then
  next_token = micros
end
local token = string.format('%.0f', next_token)
local reply = {'claimed', token, ids}
if redis.call('EXISTS', KEYS[5]) == 1 then
  reply[4] = redis.call('HMGET', KEYS[5], unpack(ids))
end
local members = {}
for i = 1, count do
  members[2 * i - 1] = token
  members[2 * i] = ids[i]
end

-- act
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, count - 1)
redis.call('ZADD', KEYS[2], unpack(members))
redis.call('ZADD', KEYS[3], string.format('%.0f', micros / 1000 + lease), token .. ':' .. ARGV[2] .. ':' .. owner)
redis.call('HSET', KEYS[4], 'token', token)
return reply
