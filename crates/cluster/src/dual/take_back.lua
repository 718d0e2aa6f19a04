#!lua flags=allow-oom
-- Takes a copy away again, unless it was written or changed since.
-- KEYS[1] the new name
-- KEYS[2] the mark, string
-- ARGV[1] the value, as DUMP gave it
-- ARGV[2] token
-- Returns how many copies were taken away

-- look
if redis.call('GET', KEYS[2]) ~= ARGV[2] then
  return 0
end
local is_unchanged = redis.call('DUMP', KEYS[1]) == ARGV[1]

-- act
redis.call('DEL', KEYS[2])
return is_unchanged and redis.call('DEL', KEYS[1]) or 0
