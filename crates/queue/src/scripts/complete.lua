#!lua flags=allow-oom
-- active -> none: jobs of one claim are done, their rows go
-- KEYS[1] emq:{q}:active zset
-- KEYS[2] emq:{q}:leases zset
-- KEYS[3] emq:{q}:meta hash
-- KEYS[4] emq:{q}:tries hash
-- KEYS[5..] emq:{q}:job:<id> string, a row per job, each once, all handed out by this claim
-- ARGV[1] token
-- ARGV[2] the claim's entry in leases
-- ARGV[3] position of the id's first byte in a row's key
-- ARGV[4] how many jobs the claim took
-- Returns settled
-- Returns lost, the ids that the token no longer holds
-- Cost O(n log N)
-- Since 0.1

-- arguments
local token, first, count = ARGV[1], tonumber(ARGV[3]), #KEYS - 4

-- look
local held = redis.call('ZCOUNT', KEYS[1], token, token)
local tried = redis.call('EXISTS', KEYS[4]) == 1
-- All that the claim took stands here and bears its token still: no need to look at each.
local whole = held == count and count == tonumber(ARGV[4])
local ids, done, rows, lost = {}, {}, {}, {}
if tried or not whole then
  for i = 1, count do ids[i] = string.sub(KEYS[i + 4], first) end
end
if not whole then
  local tokens = redis.call('ZMSCORE', KEYS[1], unpack(ids))
  for i = 1, count do
    if tokens[i] == token then
      done[#done + 1], rows[#rows + 1] = ids[i], KEYS[i + 4]
    else
      lost[#lost + 1] = ids[i]
    end
  end
  if #done == 0 then
    return {'lost', lost}
  end
end

-- act
if whole then
  redis.call('ZREMRANGEBYSCORE', KEYS[1], token, token)
  redis.call('UNLINK', unpack(KEYS, 5))
  done = ids
else
  redis.call('ZREM', KEYS[1], unpack(done))
  redis.call('UNLINK', unpack(rows))
end
if tried then
  redis.call('HDEL', KEYS[4], unpack(done))
end
redis.call('HINCRBY', KEYS[3], 'done', count - #lost)
if held == count - #lost then
  redis.call('ZREM', KEYS[2], ARGV[2])
end
return #lost == 0 and {'settled'} or {'lost', lost}
