#!lua flags=allow-oom
-- active -> pending | dead: jobs whose lease ran out, in one bounded step
-- KEYS[1] emq:{q}:active zset
-- KEYS[2] emq:{q}:leases zset
-- KEYS[3] emq:{q}:meta hash
-- KEYS[4] emq:{q}:tries hash
-- KEYS[5] emq:{q}:pending zset
-- KEYS[6] emq:{q}:dead zset
-- ARGV[1] now ms, or empty for the server's clock
-- ARGV[2] most jobs to reclaim
-- ARGV[3] lost leases after which a job is buried
-- ARGV[4] lease ms: after half of it without a sweep nothing is reclaimed for one whole lease
-- ARGV[5] channel emq:{q}:wake
-- Returns reclaimed, how many went to pending, how many to dead
-- Returns grace, the ms that it lasts yet
-- Cost O(n log N)
-- Since 0.1

-- arguments
local now, most, limit, lease = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

-- look
local time = not now and redis.call('TIME')
if time then now = time[1] * 1000 + math.floor(time[2] / 1000) end
local meta, stamp = redis.call('HMGET', KEYS[3], 'swept', 'grace'), string.format('%.0f', now)
local gap = not meta[1] or now - meta[1] > lease / 2
-- A clock that was set back does not make the grace longer than a lease.
local grace = gap and now + lease or math.min(tonumber(meta[2] or 0), now + lease)
local leases, ended, ids, back, dead, marks = {}, {}, {}, {}, {}, {}
if now >= grace then leases = redis.call('ZRANGE', KEYS[2], '-inf', stamp, 'BYSCORE', 'LIMIT', 0, most) end
for _, lease_of in ipairs(leases) do
  local token, room = string.match(lease_of, '^%d+'), most - #ids
  local held = redis.call('ZRANGE', KEYS[1], token, token, 'BYSCORE', 'LIMIT', 0, room + 1)
  if #held <= room then ended[#ended + 1] = lease_of end
  for i = 1, math.min(#held, room) do ids[#ids + 1] = held[i] end
  if #ids == most then break end
end
local tries = #ids > 0 and redis.call('HMGET', KEYS[4], unpack(ids)) or {}
for i, id in ipairs(ids) do
  local claims, failures, lapses, priority, why = string.match(tries[i] or '0 0 0 0 ', '^(%d+) (%d+) (%d+) (%-?%d+) (.*)$')
  local to, score = back, string.format('%.0f', priority * 2 ^ 40)
  if lapses + 1 >= limit then to, score, why = dead, stamp, 'worker lost ' .. lapses + 1 .. ' times' end
  to[#to + 1], to[#to + 2] = score, id
  marks[2 * i - 1], marks[2 * i] = id, claims + 1 .. ' ' .. failures .. ' ' .. lapses + 1 .. ' ' .. priority .. ' ' .. why
end

-- act
redis.call('HSET', KEYS[3], 'swept', stamp, 'grace', string.format('%.0f', grace))
if now < grace then return {'grace', grace - now} end
if #ended > 0 then redis.call('ZREM', KEYS[2], unpack(ended)) end
if #ids == 0 then return {'reclaimed', 0, 0} end
redis.call('ZREM', KEYS[1], unpack(ids))
redis.call('HSET', KEYS[4], unpack(marks))
redis.call('HINCRBY', KEYS[3], 'lost', #ids)
redis.call('HINCRBY', KEYS[3], 'dead:lost', #dead / 2)
if #dead > 0 then redis.call('ZADD', KEYS[6], unpack(dead)) end
if #back > 0 then redis.call('ZADD', KEYS[5], unpack(back)) end
if #back > 0 then redis.call('SPUBLISH', ARGV[5], '') end
return {'reclaimed', #back / 2, #dead / 2}
