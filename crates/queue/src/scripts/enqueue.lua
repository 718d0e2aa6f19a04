#!lua
-- none -> pending | schedule: a few small jobs, with their bodies, in one step
-- KEYS[1] emq:{q}:pending zset
-- KEYS[2] emq:{q}:schedule zset
-- KEYS[3] emq:{q}:meta hash
-- KEYS[4..] emq:{q}:job:<id> string, a row per job
-- ARGV[1] now ms, or empty for the server's clock
-- ARGV[2] position of the id's first byte in a row's key
-- ARGV[3] channel emq:{q}:wake
-- ARGV[4..] per row: due (+delay ms, absolute ms, or empty for at once) and body
-- Returns added
-- Returns full
-- Returns taken
-- Cost O(n log N)
-- Since 0.1

-- arguments
local first, count = tonumber(ARGV[2]), #KEYS - 3

-- look
local meta = redis.call('HMGET', KEYS[3], 'limit', 'seq')
local waiting = redis.call('ZCARD', KEYS[1])
if meta[1] and waiting + count > tonumber(meta[1]) then
  return 'full'
end
if redis.call('EXISTS', unpack(KEYS, 4)) > 0 then
  return 'taken'
end
local now = ARGV[1]
if now == '' then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local head = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2]
local rows, ready, later, seq, wake = {}, {}, {}, tonumber(meta[2] or 0), nil
for i = 1, count do
  local row, due = KEYS[i + 3], ARGV[2 * i + 2]
  rows[2 * i - 1], rows[2 * i] = row, ARGV[2 * i + 3]
  if due == '' then
    ready[#ready + 1] = string.format('%.0f', seq + #ready / 2 + 1)
    ready[#ready + 1] = string.sub(row, first)
  else
    due = string.sub(due, 1, 1) == '+' and now + string.sub(due, 2) or tonumber(due)
    if not head or due < tonumber(head) then wake = '' end
    later[#later + 1] = string.format('%.0f', due)
    later[#later + 1] = string.sub(row, first)
  end
end

-- act
redis.call('MSET', unpack(rows))
if #ready > 0 then
  redis.call('HINCRBY', KEYS[3], 'seq', #ready / 2)
  redis.call('ZADD', KEYS[1], unpack(ready))
end
if #later > 0 then redis.call('ZADD', KEYS[2], unpack(later)) end
if not wake and waiting == 0 then wake = ready[2] end
if wake then redis.pcall('SPUBLISH', ARGV[3], wake) end
return 'added'
