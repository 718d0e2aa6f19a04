#!lua
-- none -> schedule: in an enqueue transaction, schedules the ids whose rows the MSETNX before it has
-- written, which the mark proves
-- KEYS[1] emq:{q}:schedule zset
-- KEYS[2] emq:{q}:mark:<first id> string
-- ARGV[1] now ms, or empty for the server's clock
-- ARGV[2] channel emq:{q}:wake
-- ARGV[3..] pairs of due (+delay ms, or absolute ms) and id
-- Returns added
-- Returns full
-- Returns taken
-- Cost O(n log N)
-- Since 0.1

-- arguments
local now = tonumber(ARGV[1])

-- look
local mark = redis.call('GET', KEYS[2])
if mark ~= 'ok' then
  return mark or 'taken'
end
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local head = tonumber(redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2] or 2 ^ 53)
local members, sooner = {}, false
for i = 3, #ARGV, 2 do
  local due = ARGV[i]
  due = string.sub(due, 1, 1) == '+' and now + string.sub(due, 2) or tonumber(due)
  sooner = sooner or due < head
  members[i - 2] = string.format('%.0f', due)
  members[i - 1] = ARGV[i + 1]
end

-- act
redis.call('ZADD', KEYS[1], unpack(members))
if sooner then
  redis.pcall('SPUBLISH', ARGV[2], '')
end
return 'added'
