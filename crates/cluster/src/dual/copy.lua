#!lua
-- Copies a value under a name that has none, and sets the mark of whoever does it.
-- KEYS[1] the new name
-- KEYS[2] the mark, string
-- ARGV[1] the value, as DUMP gave it
-- ARGV[2] time to live, ms, 0 for ever
-- ARGV[3] token
-- ARGV[4] time to live of the mark, ms
-- Returns copied; there, when the name has a value; busy, when that is being copied by somebody else

-- look
if redis.call('EXISTS', KEYS[1]) == 1 then
  return redis.call('EXISTS', KEYS[2]) == 1 and 'busy' or 'there'
end

-- act
redis.call('RESTORE', KEYS[1], ARGV[2], ARGV[1])
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[4])
return 'copied'
