#!lua flags=allow-oom
-- active -> dead: jobs of one claim are not tried again; their rows stay to be looked at
-- KEYS[1] emq:{q}:active zset
-- KEYS[2] emq:{q}:leases zset
-- KEYS[3] emq:{q}:meta hash
-- KEYS[4] emq:{q}:tries hash
-- KEYS[5] emq:{q}:dead zset
-- ARGV[1] token
-- ARGV[2] the claim's entry in leases
-- ARGV[3] now ms, or empty for the server's clock
-- ARGV[4] class: failed, undecodable (the row is no envelope) or gone (there is no row)
-- ARGV[5..] per job, each once: id, the reason in words
-- Returns settled
-- Returns lost, the ids that the token no longer holds
-- Cost O(n log N)
-- Since 0.1

-- arguments
local token, now, class, ids = ARGV[1], ARGV[3], ARGV[4], {}
for i = 5, #ARGV, 2 do
  ids[#ids + 1] = ARGV[i]
end

-- look
local held = redis.call('ZCOUNT', KEYS[1], token, token)
local tokens = redis.call('ZMSCORE', KEYS[1], unpack(ids))
local tries = redis.call('HMGET', KEYS[4], unpack(ids))
if now == '' then
  local time = redis.call('TIME')
  now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
end
local gone, died, marks, lost = {}, {}, {}, {}
for i, id in ipairs(ids) do
  if tokens[i] == token then
    local claims, failures, lapses, priority = string.match(tries[i] or '0 0 0 0 ', '^(%d+) (%d+) (%d+) (%-?%d+) ')
    gone[#gone + 1] = id
    died[#died + 1] = now
    died[#died + 1] = id
    marks[#marks + 1] = id
    marks[#marks + 1] = claims + 1 .. ' ' .. failures + 1 .. ' ' .. lapses .. ' ' .. priority .. ' ' .. ARGV[2 * i + 4]
  else
    lost[#lost + 1] = id
  end
end
if #gone == 0 then
  return {'lost', lost}
end

-- act
redis.call('ZREM', KEYS[1], unpack(gone))
redis.call('ZADD', KEYS[5], unpack(died))
redis.call('HSET', KEYS[4], unpack(marks))
redis.call('HINCRBY', KEYS[3], 'dead:' .. class, #gone)
if held == #gone then
  redis.call('ZREM', KEYS[2], ARGV[2])
end
return #lost == 0 and {'settled'} or {'lost', lost}
