#!lua
-- a session that lives -> a user's, with the larger number of each article
-- KEYS[1] session:{session}:expiry string
-- KEYS[2] session:{session}:user string
-- KEYS[3] session:{session}:cart hash
-- ARGV[1] user
-- ARGV[2..] article, how many, and so on, at most 1,000 pairs
-- Returns done
-- Returns other, the user who is logged in
-- Returns ended
-- Cost O(lines)

-- look
local ends = redis.call('GET', KEYS[1])
if not ends then
  return {'ended'}
end
local user = redis.call('GET', KEYS[2])
if user and user ~= ARGV[1] then
  return {'other', user}
end
local more = {}
for i = 2, #ARGV, 2 do
  local have = redis.call('HGET', KEYS[3], ARGV[i]) or '0'
  if tonumber(have) < tonumber(ARGV[i + 1]) then
    more[#more + 1] = ARGV[i]
    more[#more + 1] = ARGV[i + 1]
  end
end

-- act
redis.call('SET', KEYS[2], ARGV[1], 'PXAT', ends)
if #more > 0 then
  redis.call('HSET', KEYS[3], unpack(more))
  redis.call('PEXPIREAT', KEYS[3], ends)
end
return {'done'}
