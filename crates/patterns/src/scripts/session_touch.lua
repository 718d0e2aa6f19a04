#!lua flags=allow-oom
-- a session that lives -> the same, with a later end
-- KEYS[1] session:{session}:expiry string
-- KEYS[2] session:{session}:data hash
-- KEYS[3] session:{session}:user string
-- KEYS[4] session:{session}:cart hash
-- ARGV[1] life in ms from now
-- Returns 1, or 0 when it has ended
-- Cost O(1)

-- look
local old = redis.call('GET', KEYS[1])
if not old then
  return 0
end
local time = redis.call('TIME')
local ends = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[1]
if ends <= tonumber(old) then
  return 1
end
ends = string.format('%.0f', ends)

-- act
redis.call('SET', KEYS[1], ends, 'PXAT', ends)
for i = 2, 4 do
  redis.call('PEXPIREAT', KEYS[i], ends)
end
return 1
