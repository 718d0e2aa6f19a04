#!lua
-- none -> open: the amount leaves, and an intent says where to
-- KEYS[1] ledger:{account}:balance hash
-- KEYS[2] ledger:{account}:sent hash
-- KEYS[3] ledger:{account}:open zset
-- KEYS[4] ledger:{account}:intents hash
-- KEYS[5] ledger:{account}:done:<token> string
-- ARGV[1] token
-- ARGV[2] the other account
-- ARGV[3] amount
-- Returns open, the intent, 1 when one before it to the same account may be open
-- Returns done, the intent
-- Returns insufficient, the amount that is there
-- Cost O(log open)

-- look
local intent = redis.call('HGET', KEYS[4], ARGV[1])
if intent then
  return {'open', intent, '1'}
end
intent = redis.call('GET', KEYS[5])
if intent then
  return {'done', intent}
end
local have = redis.call('HGET', KEYS[1], 'amount') or '0'
if tonumber(have) < tonumber(ARGV[3]) then
  return {'insufficient', have}
end
local before = redis.call('HGET', KEYS[2], ARGV[2]) or '0 -'
local earlier = redis.call('ZSCORE', KEYS[3], string.match(before, ' (.*)$')) and '1' or '0'
local version = string.format('%.0f', (redis.call('HGET', KEYS[1], 'version') or 0) + 1)
intent = table.concat({version, ARGV[3], before, ARGV[2]}, ' ')

-- act
redis.call('HINCRBY', KEYS[1], 'amount', '-' .. ARGV[3])
redis.call('HSET', KEYS[1], 'version', version)
redis.call('HSET', KEYS[2], ARGV[2], version .. ' ' .. ARGV[1])
redis.call('ZADD', KEYS[3], version, ARGV[1])
redis.call('HSET', KEYS[4], ARGV[1], intent)
return {'open', intent, earlier}
