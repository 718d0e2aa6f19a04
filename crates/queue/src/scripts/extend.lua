#!lua flags=allow-oom
-- active -> active: the leases of these claims begin anew
-- KEYS[1] emq:{q}:leases zset
-- ARGV[1] now ms, or empty for the server's clock
-- ARGV[2] lease ms
-- ARGV[3..] the claims' entries, token:lease ms:owner
-- Returns extended
-- Returns lost, the claims that hold nothing any more
-- Cost O(n log N)
-- Since 0.1

-- arguments
local now, lease, claims = tonumber(ARGV[1]), tonumber(ARGV[2]), {unpack(ARGV, 3)}

-- look
local deadlines = redis.call('ZMSCORE', KEYS[1], unpack(claims))
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local deadline, kept, lost = string.format('%.0f', now + lease), {}, {}
for i, claim in ipairs(claims) do
  if deadlines[i] then
    kept[#kept + 1] = deadline
    kept[#kept + 1] = claim
  else
    lost[#lost + 1] = claim
  end
end
if #kept == 0 then
  return {'lost', lost}
end

-- act
redis.call('ZADD', KEYS[1], 'XX', unpack(kept))
return #lost == 0 and {'extended'} or {'lost', lost}
