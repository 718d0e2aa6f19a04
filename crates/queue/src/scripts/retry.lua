#!lua flags=allow-oom
-- active -> schedule: jobs of one claim have failed and are due again later
-- KEYS[1] emq:{q}:active zset
-- KEYS[2] emq:{q}:leases zset
-- KEYS[3] emq:{q}:meta hash
-- KEYS[4] emq:{q}:tries hash
-- KEYS[5] emq:{q}:schedule zset
-- ARGV[1] token
-- ARGV[2] the claim's entry in leases
-- ARGV[3] now ms, or empty for the server's clock
-- ARGV[4] channel emq:{q}:wake
-- ARGV[5..] per job, each once: id, delay ms, the error in words
-- Returns settled
-- Returns lost, the ids that the token no longer holds
-- Cost O(n log N)
-- Since 0.1

-- arguments
local token, now, ids = ARGV[1], tonumber(ARGV[3]), {}
for i = 5, #ARGV, 3 do
  ids[#ids + 1] = ARGV[i]
end

-- look
local held = redis.call('ZCOUNT', KEYS[1], token, token)
local tokens = redis.call('ZMSCORE', KEYS[1], unpack(ids))
local tries = redis.call('HMGET', KEYS[4], unpack(ids))
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local head = redis.call('ZRANGE', KEYS[5], 0, 0, 'WITHSCORES')[2]
local gone, due, marks, lost, first = {}, {}, {}, {}, tonumber(head or 2 ^ 53)
for i, id in ipairs(ids) do
  if tokens[i] == token then
    local claims, failures, lapses, priority = string.match(tries[i] or '0 0 0 0 ', '^(%d+) (%d+) (%d+) (%-?%d+) ')
    gone[#gone + 1] = id
    -- A later time would not be stored exactly.
    local at = math.min(now + ARGV[3 * i + 3], 2 ^ 53 - 1)
    first = math.min(first, at)
    due[#due + 1] = string.format('%.0f', at)
    due[#due + 1] = id
    marks[#marks + 1] = id
    marks[#marks + 1] = claims + 1 .. ' ' .. failures + 1 .. ' ' .. lapses .. ' ' .. priority .. ' ' .. ARGV[3 * i + 4]
  else
    lost[#lost + 1] = id
  end
end
if #gone == 0 then return {'lost', lost} end

-- act
redis.call('ZREM', KEYS[1], unpack(gone))
redis.call('ZADD', KEYS[5], unpack(due))
redis.call('HSET', KEYS[4], unpack(marks))
redis.call('HINCRBY', KEYS[3], 'retried', #gone)
if held == #gone then redis.call('ZREM', KEYS[2], ARGV[2]) end
if first < tonumber(head or 2 ^ 53) then redis.pcall('SPUBLISH', ARGV[4], '') end
return #lost == 0 and {'settled'} or {'lost', lost}
