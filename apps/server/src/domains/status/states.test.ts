import { expect, test } from 'vitest'
import { dayState, locationState, serverState, shareUp, worstState, type ServerFacts } from './states.ts'

const now = new Date('2026-11-20T12:00:00.000Z')
const ago = (minutes: number) => new Date(now.getTime() - minutes * 60_000)
const fine: ServerFacts = {
  status: 'active',
  connected: true,
  lastSeenAt: ago(1),
  unreachableSince: null,
  problems: [],
  checks: undefined
}
const silent = { connected: false, unreachableSince: ago(3) }

test.each<[string, Partial<ServerFacts>, ReturnType<typeof serverState>]>([
  ['answers', {}, 'up'],
  ['does not answer', silent, 'down'],
  ['was never asked', { connected: false, lastSeenAt: null }, 'unknown'],
  ['was last seen before the console stood still', { lastSeenAt: ago(6) }, 'unknown'],
  ['is paused', { status: 'paused' }, 'maintenance'],
  ['is drained and silent', { status: 'draining', ...silent }, 'maintenance'],
  ['was given up', { status: 'given_up', ...silent }, null],
  ['comes back', { status: 'returning' }, null],
  ['was last seen when signs are just not too old', { lastSeenAt: ago(5) }, 'up'],
  ['answers and was never seen', { lastSeenAt: null }, 'unknown'],
  ['lacks workers', { problems: ['worker_missing'] }, 'degraded'],
  ['has few handles left', { problems: ['handles_low'] }, 'degraded'],
  ['is slow', { problems: ['loop_slow'] }, 'degraded'],
  ['lacks routes', { problems: ['disk_not_writable', 'routes_missing'] }, 'degraded'],
  ['lacks name servers', { problems: ['dns_failing'] }, 'degraded'],
  ['has a full disk', { problems: ['disk_not_writable'] }, 'up'],
  ['fails for two customers', { checks: { customers: 4, failing: 2, share: 0.3 } }, 'degraded'],
  ['fails for a fifth', { checks: { customers: 10, failing: 2, share: 0.2 } }, 'degraded'],
  ['fails for nine of ten', { checks: { customers: 10, failing: 9, share: 0.9 } }, 'down'],
  ['fails for all customers', { checks: { customers: 2, failing: 2, share: 1 } }, 'down'],
  // One customer's own actions are no outage.
  ['fails for one customer', { checks: { customers: 1, failing: 1, share: 1 } }, 'up'],
  ['fails for few addresses', { checks: { customers: 50, failing: 2, share: 0.03 } }, 'up']
])('a server that %s', (_what, signs, state) => expect(serverState({ ...fine, ...signs }, now)).toBe(state))

test('a location goes by the share of its servers', () => {
  expect(locationState([])).toBe('unknown')
  expect(locationState(['unknown', 'unknown'])).toBe('unknown')
  expect(locationState(['maintenance', 'unknown'])).toBe('maintenance')
  expect(locationState(['up', 'maintenance', 'unknown'])).toBe('up')
  expect(locationState(['up', 'up', 'down'])).toBe('degraded')
  expect(locationState(['up', 'degraded'])).toBe('degraded')
  expect(locationState(['up', 'down'])).toBe('down')
  expect(locationState(['down', 'maintenance', 'maintenance'])).toBe('down')
  expect(worstState(['up', 'unknown'])).toBe('up')
  expect(worstState(['up', 'maintenance', 'unknown'])).toBe('maintenance')
  expect(worstState(['up', 'degraded', 'maintenance'])).toBe('degraded')
  expect(worstState(['up', 'degraded', 'down'])).toBe('down')
  expect(worstState([])).toBe('unknown')
})

test('a day goes by the minutes that were watched, and no silence is rounded away', () => {
  const day = (minutes: Partial<Parameters<typeof dayState>[0]>) => {
    const all = { up: 0, degraded: 0, down: 0, maintenance: 0, ...minutes }
    return [dayState(all), shareUp(all)]
  }
  expect(day({})).toEqual(['unknown', null])
  expect(day({ maintenance: 60 })).toEqual(['maintenance', null])
  expect(day({ up: 10, maintenance: 1430 })).toEqual(['up', 100])
  expect(day({ up: 1439, down: 1 })).toEqual(['up', 99.93])
  expect(day({ up: 129_599, down: 1 })).toEqual(['up', 99.99])
  expect(day({ up: 995, down: 5 })).toEqual(['up', 99.5])
  expect(day({ up: 994, down: 6 })).toEqual(['degraded', 99.4])
  expect(day({ up: 995, degraded: 5 })).toEqual(['up', 100])
  expect(day({ up: 990, degraded: 5, down: 5 })).toEqual(['up', 99.5])
  expect(day({ up: 994, degraded: 6 })).toEqual(['degraded', 100])
  expect(day({ up: 500, down: 500 })).toEqual(['degraded', 50])
  expect(day({ up: 1400, down: 40 })).toEqual(['degraded', 97.22])
  expect(day({ up: 1400, degraded: 40 })).toEqual(['degraded', 100])
  expect(day({ up: 700, down: 740 })).toEqual(['down', 48.61])
})
