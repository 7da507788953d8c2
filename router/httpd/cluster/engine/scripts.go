package engine

import "github.com/valkey-io/valkey-go"

// scripts are what the engine carries out at once. The first arguments are what all keys begin with
// and the ID of this replica. Scripts that write for an owner have the counter of writes as KEYS[2]
// and return whether they have written, who owns the unit now, and whether nobody did before.
type scripts struct {
	beat, leave, claim, put, yield, release, forget, document, take, swap *valkey.Lua
}

func newScripts() scripts {
	script := func(text string) *valkey.Lua { return valkey.NewLuaScript(prelude + text) }
	return scripts{
		beat: script(beatScript), leave: script(leaveScript), claim: script(claimScript), put: script(putScript),
		yield: script(yieldScript), release: script(releaseScript), forget: script(forgetScript),
		document: script(documentScript), take: script(takeScript), swap: valkey.NewLuaScript(swapScript),
	}
}

// An owner without a lease counts as alive if nobody had the chance to renew leases: nobody has
// done so for a lease's time, or begun to do so again for as long.
const prelude = `
local base, me = ARGV[1], ARGV[2]
local function alive(id)
  return redis.call('EXISTS', base .. 'r:' .. id) == 1
    or redis.call('EXISTS', base .. 'up') == 0
    or redis.call('EXISTS', base .. 'grace') == 1
end
local function wrote(owner, fresh)
  if redis.call('INCR', KEYS[2]) == 1 then redis.call('PEXPIRE', KEYS[2], 600000) end
  return {1, owner, fresh}
end
`

// beatScript has r:, w:, replicas and k as keys.
const beatScript = `
local lease, ttl, expected, key, most, first = ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7]), ARGV[8]
if redis.call('EXISTS', base .. 'up') == 0 then redis.call('SET', base .. 'grace', 1, 'PX', ttl) end
redis.call('SET', base .. 'up', 1, 'PX', ttl)
redis.call('SET', KEYS[4], key, 'NX')
local known = redis.call('EXISTS', KEYS[1]) == 1
local members, others = {}, 0
for _, id in ipairs(redis.call('SMEMBERS', KEYS[3])) do
  if id ~= me then
    local value = redis.call('GET', base .. 'r:' .. id)
    if not value then
      redis.call('SREM', KEYS[3], id)
    else
      others = others + 1
      if others < most then
        members[#members + 1] = id
        members[#members + 1] = value
      end
    end
  end
end
if not known and others >= most then return {-1} end
local count = tonumber(redis.call('GET', KEYS[2]) or 0)
local lost = 0
if count < expected or not known and first == '0' then lost = 1 end
if count < expected then
  redis.call('SET', KEYS[2], ARGV[5], 'PX', 600000)
  count = expected
else
  redis.call('PEXPIRE', KEYS[2], 600000)
end
redis.call('SET', KEYS[1], lease, 'PX', ttl)
redis.call('SADD', KEYS[3], me)
return {lost, count, redis.call('GET', KEYS[4]), unpack(members)}
`

const leaveScript = `
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('SREM', KEYS[3], me)
return 1
`

// claimScript has the replicas that live without leases as the last arguments.
const claimScript = `
local dead, ttl = ARGV[3], ARGV[4]
local living = {}
for i = 5, #ARGV do living[ARGV[i]] = true end
local owner = redis.call('GET', KEYS[1])
if owner == me then
  redis.call('PEXPIRE', KEYS[1], ttl)
  return {0, me, 0}
elseif owner and owner == dead then
  redis.call('DEL', base .. 'r:' .. dead)
  redis.call('SREM', KEYS[3], dead)
elseif owner and (living[owner] or alive(owner)) then
  return {0, owner, 0}
end
redis.call('SET', KEYS[1], me, 'PX', ttl)
return wrote(me, owner and 0 or 1)
`

const putScript = `
local record, ttl = ARGV[3], ARGV[4]
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= me and alive(owner) then return {0, owner, 0} end
redis.call('SET', KEYS[1], me, 'PX', ttl)
redis.call('SET', KEYS[3], record, 'PX', ttl)
return wrote(me, owner and 0 or 1)
`

const yieldScript = `
local to, ttl = ARGV[3], ARGV[4]
if redis.call('GET', KEYS[1]) ~= me then return {0, '', 0} end
redis.call('SET', KEYS[1], to, 'PX', ttl)
return wrote(to, 0)
`

const releaseScript = `
if redis.call('GET', KEYS[1]) ~= me then return {0, '', 0} end
redis.call('DEL', KEYS[1])
return wrote('', 0)
`

const forgetScript = `
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= me then return {0, owner, 0} end
redis.call('DEL', KEYS[3])
if ARGV[3] == '1' then redis.call('DEL', KEYS[1]) end
return wrote('', 0)
`

const documentScript = `
local version, text = ARGV[3], ARGV[4]
local there = redis.call('GET', KEYS[1])
if (there and string.match(there, '^(%d+):') or '0') ~= version then return {0, '', 0} end
redis.call('SET', KEYS[1], text)
return wrote('', 0)
`

// takeScript counts by the engine's clock, which may go back when another engine takes over.
const takeScript = `
local n, rate, burst = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local have, at = burst, now
local there = redis.call('GET', KEYS[1])
if there then
  local a, b = string.match(there, '^(%S+) (%S+)$')
  have, at = tonumber(a) or burst, tonumber(b) or now
end
have = math.min(burst, have + math.max(0, now - at) * rate)
local granted = math.min(n, math.floor(have))
if granted > 0 then
  have = have - granted
  local full = math.min((burst - have) / rate, 1000000)
  redis.call('SET', KEYS[1], string.format('%.6f %.6f', have, now), 'PX', math.ceil(full * 1000) + 1000)
end
return granted
`

const swapScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1
`
