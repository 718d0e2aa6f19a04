#!lua flags=no-writes
-- none -> none: where a job is
-- KEYS[1] emq:{q}:pending zset
-- KEYS[2] emq:{q}:active zset
-- KEYS[3] emq:{q}:schedule zset
-- KEYS[4] emq:{q}:dead zset
-- KEYS[5] emq:{q}:tries hash
-- KEYS[6] emq:{q}:job:<id> string
-- ARGV[1] the id
-- Returns found, state (pending, active, schedule, dead, or nowhere where only the row is left), its score there, its tries or empty
-- Returns absent
-- Cost O(1)
-- Since 0.1

-- arguments
local id = ARGV[1]

-- look
local row, tries = redis.call('EXISTS', KEYS[6]), redis.call('HGET', KEYS[5], id) or ''
for i, state in ipairs({'pending', 'active', 'schedule', 'dead'}) do
  local score = redis.call('ZSCORE', KEYS[i], id)
  if score then
    return {'found', state, score, tries}
  end
end

-- act
return row == 1 and {'found', 'nowhere', '', tries} or {'absent'}
