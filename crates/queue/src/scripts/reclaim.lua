#!lua flags=allow-oom
-- active -> pending | dead: jobs whose lease ran out, in a step; after a gap of sweeps over half of it, one more lease
-- first, once: its end is at half a millisecond
-- KEYS[1] emq:{q}:active zset
-- KEYS[2] emq:{q}:leases zset
-- KEYS[3] emq:{q}:meta hash
-- KEYS[4] emq:{q}:tries hash
-- KEYS[5] emq:{q}:pending zset
-- KEYS[6] emq:{q}:dead zset
-- ARGV[1] now ms, or empty for the server's clock
-- ARGV[2] most jobs to reclaim
-- ARGV[3] lost leases after which a job is buried
-- ARGV[4] lease ms of the sweeper, who comes every sixth of it: a quarter of it without a sweep is a gap
-- ARGV[5] channel emq:{q}:wake
-- Returns reclaimed, how many jobs went to pending, how many to dead, how many claims got one more lease
-- Cost O(n log N)
-- Since 0.1

-- arguments
local now, most, limit, lease = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

-- look
local meta, time = redis.call('HMGET', KEYS[3], 'swept', 'gap', 'until'), redis.call('TIME')
now = now or time[1] * 1000 + math.floor(time[2] / 1000)
local gap, till, since = tonumber(meta[2] or 0), tonumber(meta[3] or 0), now - (meta[1] or 0)
if since > lease / 4 then gap, till = since, now end
local kept, ended, ids, back, dead, marks, stamp = {}, {}, {}, {}, {}, {}, string.format('%.0f', now)
if till > now then gap = 0 end -- the clock was set back
local leases = redis.call('ZRANGE', KEYS[2], '-inf', stamp, 'BYSCORE', 'LIMIT', 0, most, 'WITHSCORES')
for i = 1, #leases, 2 do
  local claim, room, token, own = leases[i], most - #ids, string.match(leases[i], '^(%d+):(%d+):')
  if not token then token, own = '-1', lease end
  local held = redis.call('ZRANGE', KEYS[1], token, token, 'BYSCORE', 'LIMIT', 0, room + 1)
  local more = leases[i + 1] - own < till and gap > own / 2 and leases[i + 1] % 1 == 0
  if more then kept[#kept + 1], kept[#kept + 2] = string.format('%.1f', now + own + 0.5), claim end
  if not more and #held <= room then ended[#ended + 1] = claim end
  for j = 1, more and 0 or math.min(#held, room) do ids[#ids + 1] = held[j] end
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
redis.call('HSET', KEYS[3], 'swept', stamp, 'gap', string.format('%.0f', gap), 'until', string.format('%.0f', till))
if #kept > 0 then redis.call('ZADD', KEYS[2], 'XX', unpack(kept)) end
if #ended > 0 then redis.call('ZREM', KEYS[2], unpack(ended)) end
if #ids == 0 then return {'reclaimed', 0, 0, #kept / 2} end
redis.call('ZREM', KEYS[1], unpack(ids))
redis.call('HSET', KEYS[4], unpack(marks))
redis.call('HINCRBY', KEYS[3], 'lost', #ids)
redis.call('HINCRBY', KEYS[3], 'dead:lost', #dead / 2)
if #dead > 0 then redis.call('ZADD', KEYS[6], unpack(dead)) end
if #back > 0 then redis.call('ZADD', KEYS[5], unpack(back)) redis.pcall('SPUBLISH', ARGV[5], '') end
return {'reclaimed', #back / 2, #dead / 2, #kept / 2}
