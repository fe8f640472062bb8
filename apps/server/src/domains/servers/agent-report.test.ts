import { TAKEOVER_FORMAT } from '@netlet/contract/agent-takeover'
import { expect, test } from 'vitest'
import { KEPT_HOURS, reportOf } from './agent-report.ts'

const start = Date.parse('2026-06-15T08:30:00.000Z')
const at = (minutes: number) => new Date(start + minutes * 60_000)
const info = (uptime: number, up: number, down: number, connections = 5) => ({
  epoch: 'e',
  version: 1,
  proxy_port: 3128,
  cidr: [],
  num_of_users: 7,
  health: { status: 'ok' as const, version: '0.1.0', workers: 2, uptime_seconds: uptime },
  load: { connections, up, down, requests: 0, errors: 0 }
})

test('traffic is what the counters grew by since the check before; the first report knows no rate', () => {
  const first = reportOf(info(600, 5000, 9000), null, at(0))
  expect(first?.report).toMatchObject({ version: '0.1.0', users: 7, connections: 5, rate: null })
  expect(first?.report.hours).toEqual([{ at: '2026-06-15T08:00:00.000Z', up: 0, down: 0, connections: 5 }])
  const second = reportOf(info(660, 5600, 21_000, 3), first, at(1))
  expect(second?.report.rate).toEqual({ up: 10, down: 200 })
  expect(second?.report.hours).toEqual([{ at: '2026-06-15T08:00:00.000Z', up: 600, down: 12_000, connections: 5 }])
})

test('an agent that was started again counts from 0', () => {
  const first = reportOf(info(600, 5000, 9000), null, at(0))
  expect(reportOf(info(30, 60, 120), first, at(1))?.report.rate).toEqual({ up: 1, down: 2 })
})

test('an older agent reports neither connections nor traffic, and an empty reply leaves no report', () => {
  const { load: _, ...old } = info(60, 0, 0)
  expect(reportOf(old, null, at(0))?.report).toMatchObject({ connections: null, rate: null, hours: [] })
  const { health: __, ...older } = old
  expect(reportOf(older, null, at(0))).toBeNull()
})

test('an agent of another takeover format hands over to nothing that is installed, so that plans say its connections are cut', () => {
  const program = { program_started_at: 't1', takeover: { state: 'none' as const, at: null, reason: null } }
  const ofFormat = (takeover_format: number) =>
    reportOf({ ...info(60, 0, 0), ...program, takeover_format }, null, at(0))?.report.hands_over
  expect([ofFormat(TAKEOVER_FORMAT), ofFormat(TAKEOVER_FORMAT + 1)]).toEqual([true, false])
})

test('an agent reports which settings it knows; older agents know those of their time', () => {
  const program = { program_started_at: 't1', takeover: { state: 'none' as const, at: null, reason: null } }
  const of = (told: object) => reportOf({ ...info(60, 0, 0), ...told }, null, at(0))?.report.settings_format
  expect([of({}), of(program), of({ ...program, settings_format: 3 })]).toEqual([1, 2, 3])
})

test('the history is bounded', () => {
  let stored = reportOf(info(0, 0, 0), null, at(0))
  for (let hour = 1; hour <= KEPT_HOURS + 10; hour++) stored = reportOf(info(hour, hour, hour), stored, at(hour * 60))
  expect(stored?.report.hours).toHaveLength(KEPT_HOURS)
  expect(stored?.report.hours.at(-1)?.up).toBe(1)
})
