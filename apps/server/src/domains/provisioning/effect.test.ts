import { expect, test } from 'vitest'
import { closedToOthers, effectOn, serviceOf, shutsOut } from './effect.ts'
import { layoutOf, unitOf } from './layout.ts'
import { contentOf } from './machine.ts'
import { requiredLevel, mayReplace } from './kept-program.ts'
import { TAKEOVER_FORMAT } from '@netlet/contract/agent-takeover'
import { handsOverToOurs, programIn } from '../servers/agent-report.ts'
import { outcomeOf } from './start-agent.ts'

const current = serviceOf(true, contentOf(unitOf(layoutOf(''))).sha256)
const older = serviceOf(true, 'of an older console')
const alone = serviceOf(false, 'any')

test('tunnels go on if a capable agent hands over under its present service file', () => {
  expect(effectOn({ service: current, handsOver: true })).toBe('hands_over')
  // A change of settings alone leaves the service file as it is.
  expect(effectOn({ service: older, handsOver: true }, { settingsOnly: true })).toBe('hands_over')
})

test('they are cut without systemd, by an older agent, and by another service file', () => {
  for (const service of [alone, older, current, null])
    expect(effectOn({ service, handsOver: false }, { settingsOnly: true })).toBe('restarts')
  expect(effectOn({ service: alone, handsOver: null })).toBe('restarts')
  expect(effectOn({ service: older, handsOver: true })).toBe('restarts')
})

test('if nothing is known, nothing is promised', () => {
  expect(effectOn({ service: null, handsOver: true })).toBe('unknown')
  expect(effectOn({ service: current, handsOver: null })).toBe('unknown')
})

test('a list shuts the console out if it has addresses, but not the console’s', () => {
  const list = '198.51.100.7/32,2001:db8::/32'
  expect(shutsOut(list, '203.0.113.9')).toBe(true)
  expect(shutsOut(list, '2001:db9::1')).toBe(true)
  expect(shutsOut(list, '198.51.100.7')).toBe(false)
  expect(shutsOut(list, '2001:db8::5')).toBe(false)
  // An empty list, a machine's own address, and an unknown address.
  for (const [text, address] of [
    ['', '203.0.113.9'],
    [list, '127.0.0.1'],
    [list, ''],
    [list, null]
  ] as const)
    expect(shutsOut(text, address)).toBe(false)
})

test('a first installation lets only the console and its other machines in, and adds nothing if it cannot know', () => {
  const listOf = (address: string, others: string[] = [], settings: Record<string, string> = {}) =>
    closedToOthers(settings, address, others)['AGENT_ALLOW_CLIENTS']
  expect(listOf('203.0.113.9')).toBe('203.0.113.9/32')
  expect(listOf('203.0.113.9', ['198.51.100.0/24', '203.0.113.10'])).toBe(
    '198.51.100.0/24,203.0.113.9/32,203.0.113.10/32'
  )
  // Tomorrow it may have another address of its network.
  expect(shutsOut(listOf('2001:db8:1:2:aaaa::1') ?? '', '2001:db8:1:2:bbbb::7')).toBe(false)
  expect(shutsOut(listOf('2001:db8:1:2:aaaa::1') ?? '', '2001:db8:1:3::7')).toBe(true)
  expect(listOf('')).toBeUndefined()
  expect(listOf('127.0.0.1')).toBeUndefined()
  expect(listOf('203.0.113.9', [], { AGENT_ALLOW_CLIENTS: '' })).toBe('')
})

test('a new program must get as far as the kept one got just before, or as is known of it', () => {
  expect(requiredLevel(null, 'serves')).toBe('serves')
  expect(requiredLevel({ level: null, runs: true }, 'reaches')).toBe('reaches')
  // If no one reaches a site today, that is no fault of the new program.
  expect(requiredLevel({ level: 'reaches', runs: true }, 'serves')).toBe('serves')
  // No measurement, or one of a program that an installation left behind.
  expect(requiredLevel({ level: 'reaches', runs: true }, null)).toBe('reaches')
  expect(requiredLevel({ level: 'reaches', runs: false }, 'silent')).toBe('reaches')
})

test('a silent program takes the place of no other one than a silent one', () => {
  expect(mayReplace({ level: 'serves', runs: true }, 'silent')).toBe(false)
  expect(mayReplace({ level: 'silent', runs: true }, 'silent')).toBe(true)
  expect(mayReplace({ level: null, runs: false }, 'silent')).toBe(true)
  expect(mayReplace(null, 'silent')).toBe(true)
  expect(mayReplace({ level: 'reaches', runs: true }, 'serves')).toBe(true)
})

const at = (program_started_at: string, state: string, since: string | null, reason: string | null = null) =>
  programIn({ epoch: 'e', program_started_at, takeover: { state, at: since, reason } })

test('an older agent reports no take-overs, and invalid data counts as nothing', () => {
  expect(programIn({ epoch: 'e', health: {} })).toBeNull()
  expect(programIn({ program_started_at: 7, takeover: {} })).toBeNull()
  expect(programIn(null)).toBeNull()
})

test('another program that serves is a success, a failure of this try is one, and all else is waited for', () => {
  const before = at('t1', 'failed', 'long ago', 'another try')
  if (!before) throw new Error('it tells all')
  expect(outcomeOf(before, before)).toEqual({ kind: 'waits' })
  expect(outcomeOf(before, null)).toEqual({ kind: 'waits' })
  expect(outcomeOf(before, at('t1', 'running', 'now'))).toEqual({ kind: 'waits' })
  expect(outcomeOf(before, at('t1', 'failed', 'now', 'It did not start.'))).toEqual({
    kind: 'failed',
    reason: 'It did not start.'
  })
  expect(outcomeOf(before, at('t2', 'none', null))).toEqual({ kind: 'done' })
})

test('a program of another format, or an older one, hands over to none of ours', () => {
  const program = { program_started_at: 't1', takeover: { state: 'none', at: null, reason: null } }
  const ofFormat = (takeover_format: number) => handsOverToOurs(programIn({ ...program, takeover_format }))
  expect(ofFormat(TAKEOVER_FORMAT)).toBe(true)
  expect([ofFormat(TAKEOVER_FORMAT + 1), ofFormat(TAKEOVER_FORMAT - 1)]).toEqual([false, false])
  expect(handsOverToOurs(null)).toBe(false)
  // The first releases report no format.
  expect(programIn(program)).toMatchObject({ takeover_format: 2 })
})
