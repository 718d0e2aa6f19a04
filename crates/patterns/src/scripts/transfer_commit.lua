#!lua flags=allow-oom
-- open -> done: the intent becomes the marker
-- KEYS[1] ledger:{account}:open zset
-- KEYS[2] ledger:{account}:intents hash
-- KEYS[3] ledger:{account}:done:<token> string
-- ARGV[1] token
-- ARGV[2] version
-- ARGV[3] how long the marker stands, in ms
-- Returns done
-- Returns gone, it is not open under this version
-- Cost O(log open)

-- look
local version = redis.call('ZSCORE', KEYS[1], ARGV[1])
local intent = redis.call('HGET', KEYS[2], ARGV[1])
if not intent or tonumber(version) ~= tonumber(ARGV[2]) then
  return 'gone'
end

-- act
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('SET', KEYS[3], intent, 'PX', ARGV[3])
return 'done'
