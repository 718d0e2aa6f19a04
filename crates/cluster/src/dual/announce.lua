#!lua
-- KEYS[1] the marker, hash: process -> until since stage met_old version; times in the server's ms
-- ARGV[1] process
-- ARGV[2] for how long the word holds, ms
-- ARGV[3] since when it has been said, the server's ms, or empty for the first time
-- ARGV[4] stage
-- ARGV[5] how long ago an old name was met, ms, or empty
-- ARGV[6] version
-- Returns since

-- look
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local day = 86400000
local gone = {}
if ARGV[3] == '' then
  local entries = redis.call('HGETALL', KEYS[1])
  for i = 1, #entries, 2 do
    if (tonumber(string.match(entries[i + 1], '^%d+')) or 0) < now - day and #gone < 1000 then
      gone[#gone + 1] = entries[i]
    end
  end
end
local since = ARGV[3] == '' and string.format('%.0f', now) or ARGV[3]
local met = ARGV[5] == '' and '-' or string.format('%.0f', now - ARGV[5])

-- act
if #gone > 0 then
  redis.call('HDEL', KEYS[1], unpack(gone))
end
redis.call('HSET', KEYS[1], ARGV[1], table.concat({string.format('%.0f', now + ARGV[2]), since, ARGV[4], met, ARGV[6]}, ' '))
redis.call('PEXPIRE', KEYS[1], 2 * day)
return tonumber(since)
