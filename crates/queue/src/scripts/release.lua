#!lua flags=allow-oom
-- active -> pending: jobs of one claim are handed back unrun, to the front; no attempt is counted
-- KEYS[1] emq:{q}:active zset
-- KEYS[2] emq:{q}:leases zset
-- KEYS[3] emq:{q}:pending zset
-- KEYS[4] emq:{q}:tries hash
-- ARGV[1] token
-- ARGV[2] the claim's entry in leases
-- ARGV[3] channel emq:{q}:wake
-- ARGV[4..] the ids, each once
-- Returns settled
-- Returns lost, the ids that the token no longer holds
-- Cost O(n log N)
-- Since 0.1

-- arguments
local token, ids = ARGV[1], {unpack(ARGV, 4)}

-- look
local held = redis.call('ZCOUNT', KEYS[1], token, token)
local tokens = redis.call('ZMSCORE', KEYS[1], unpack(ids))
local tries = redis.call('HMGET', KEYS[4], unpack(ids))
local gone, back, lost = {}, {}, {}
for i, id in ipairs(ids) do
  if tokens[i] == token then
    local priority = string.match(tries[i] or '', '^%d+ %d+ %d+ (%-?%d+) ') or 0
    gone[#gone + 1] = id
    back[#back + 1] = string.format('%.0f', priority * 2 ^ 40)
    back[#back + 1] = id
  else
    lost[#lost + 1] = id
  end
end
if #gone == 0 then
  return {'lost', lost}
end

-- act
redis.call('ZREM', KEYS[1], unpack(gone))
redis.call('ZADD', KEYS[3], unpack(back))
if held == #gone then
  redis.call('ZREM', KEYS[2], ARGV[2])
end
redis.pcall('SPUBLISH', ARGV[3], '')
return #lost == 0 and {'settled'} or {'lost', lost}
