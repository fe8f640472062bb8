import { TAKEOVER_FORMAT } from '@netlet/contract/agent-takeover'
import { expect, test } from 'vitest'
import { handsOverToOurs, programIn } from '../servers/agent-report.ts'
import { outcomeOf } from './start-agent.ts'

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
