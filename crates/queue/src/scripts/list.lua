#!lua
-- none -> pending | schedule: last step of an enqueue transaction; lists the ids whose rows the MSETNX
-- before it has written, which the mark proves
-- KEYS[1] emq:{q}:pending zset
-- KEYS[2] emq:{q}:schedule zset
-- KEYS[3] emq:{q}:meta hash
-- KEYS[4] emq:{q}:mark:<first id> string
-- ARGV[1] now ms, or empty for the server's clock
-- ARGV[2] number of ids that are due at once
-- ARGV[3] same: one rank for all of them (their byte order is the order wanted); each: a rank per id
-- ARGV[4] channel emq:{q}:wake
-- ARGV[5..] those ids, then pairs of due (+delay ms, or absolute ms) and id
-- Returns added
-- Returns full
-- Returns taken
-- Cost O(n log N)
-- Since 0.1

-- arguments
local count, each = tonumber(ARGV[2]), ARGV[3] == 'each'

-- look
local mark = redis.call('GET', KEYS[4])
if not mark then return 'taken' end
local waiting = redis.call('ZCARD', KEYS[1])
local now, head, wake = ARGV[1], nil, waiting == 0 and ARGV[5]
if #ARGV > count + 4 then
  head = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2]
  if now == '' then
    local time = redis.call('TIME')
    now = time[1] * 1000 + math.floor(time[2] / 1000)
  end
end

-- act
redis.call('DEL', KEYS[4])
if mark ~= 'ok' then return mark end
if count > 0 then
  local last = redis.call('HINCRBY', KEYS[3], 'seq', each and count or 1)
  local rank, members = string.format('%.0f', last), {}
  for i = 1, count do
    members[2 * i - 1] = each and string.format('%.0f', last - count + i) or rank
    members[2 * i] = ARGV[i + 4]
  end
  redis.call('ZADD', KEYS[1], unpack(members))
end
if #ARGV > count + 4 then
  local members = {}
  for i = count + 5, #ARGV, 2 do
    local due = string.sub(ARGV[i], 1, 1) == '+' and now + string.sub(ARGV[i], 2) or tonumber(ARGV[i])
    if not head or due < tonumber(head) then wake = '' end
    members[#members + 1] = string.format('%.0f', due)
    members[#members + 1] = ARGV[i + 1]
  end
  redis.call('ZADD', KEYS[2], unpack(members))
end
if wake then redis.call('SPUBLISH', ARGV[4], wake) end
return 'added'
