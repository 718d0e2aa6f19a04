#!lua flags=allow-oom
-- open -> credited, if the one before it was the last that came
-- KEYS[1] ledger:{account}:balance hash
-- KEYS[2] ledger:{account}:received hash
-- ARGV[1] the other account
-- ARGV[2] stamp
-- ARGV[3] stamp of the one before it, `0 -` for none
-- ARGV[4] amount
-- Returns done
-- Returns apart, another one was the last
-- Cost O(1)

-- look
local last = redis.call('HGET', KEYS[2], ARGV[1]) or '0 -'
if last == ARGV[2] then
  return 'done'
end
if last ~= ARGV[3] then
  return 'apart'
end

-- act
redis.call('HINCRBY', KEYS[1], 'amount', ARGV[4])
redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
return 'done'
