import { ORDER_STATES, type OrderState } from '@netlet/contract/states'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { drawnTransitions, transitionsOf } from '../../testing/diagram.ts'
import { isTimed, TIMED_STATES, next, TRANSITIONS, type OrderEvent } from './states.ts'
import { TASK_TRANSITIONS, taskAllows, taskStateOf } from './task-states.ts'
import { runs } from '../../../../../scripts/testing/tier.ts'

const EVENTS = Object.keys(TRANSITIONS) as OrderEvent[]
const START: OrderState = 'placed'
const UNPAID: OrderState[] = ['placed', 'timed_out', 'cancelled']

/** Every transition of the table. */
const WAYS = EVENTS.flatMap(event => TRANSITIONS[event].from.map(from => ({ from, event, to: TRANSITIONS[event].to })))

const walk = (events: OrderEvent[]): OrderState[] =>
  events.reduce<OrderState[]>(
    (seen, event) => [...seen, next(seen.at(-1) ?? START, event) ?? seen.at(-1) ?? START],
    [START]
  )

test('in any sequence of events an order follows the transitions of the table', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...EVENTS), { maxLength: 40 }), events => {
      const states = walk(events)
      events.forEach((event, at) => {
        const [from, to] = [states[at], states[at + 1]]
        expect(ORDER_STATES).toContain(to)
        if (from !== to) expect(WAYS).toContainEqual({ from, event, to })
      })
      // A paid order never becomes unpaid, except after the refund of a payment that never counted.
      states.forEach((state, at) => {
        const before = states[at - 1]
        if (before && UNPAID.includes(state) && !UNPAID.includes(before))
          expect([before, state]).toEqual(['failed', 'placed'])
      })
      const again = states.filter((state, at) => state === 'placed' && states[at - 1] === 'failed').length
      // Only the return of its money leads on from a refund, and not to a served state.
      states.forEach((state, at) => {
        if (state === 'refunded') expect(['refunded', 'expired', 'failed', undefined]).toContain(states[at + 1])
      })
      // A delivered order can only end, and the same payment settles once.
      states.forEach((state, at) => {
        if (state === 'delivered') expect(['delivered', 'expired', 'refunded', undefined]).toContain(states[at + 1])
      })
      expect(states.filter((state, at) => state === 'paid' && states[at - 1] !== 'paid').length).toBeLessThanOrEqual(
        1 + again
      )
    }),
    runs(500, 50_000)
  )
})

test('every state is reached, and every state has a way on', () => {
  const reached = new Set<OrderState>([START])
  for (const from of reached) for (const way of WAYS) if (way.from === from) reached.add(way.to)
  expect([...reached].toSorted()).toEqual([...ORDER_STATES].toSorted())
  const ends = ORDER_STATES.filter(state => !WAYS.some(way => way.from === state))
  expect(ends).toEqual([])
})

test('the time runs in just those states that can expire', () => {
  for (const state of ORDER_STATES) {
    expect(isTimed(state)).toBe(next(state, 'expire') === 'expired')
    expect((TIMED_STATES as readonly OrderState[]).includes(state)).toBe(isTimed(state))
  }
})

test('docs/ORDERS.md draws this table and nothing else', async () => {
  const expected = [`[*]  ${START}`, ...WAYS.map(({ from, event, to }) => `${from} ${event} ${to}`)]
  expect(await drawnTransitions('States')).toEqual(expected.toSorted())
})

test('docs/ORDERS.md draws the table of tasks and nothing else', async () => {
  const expected = transitionsOf(TASK_TRANSITIONS)
  expect(await drawnTransitions('Tasks')).toEqual(['[*]  none', ...expected].toSorted())
})

test('a task is queued, running, or there is none; each event is possible in its states only', () => {
  const at = new Date('2026-05-15T12:00:00Z')
  const none = { task: null, taskBegunAt: null }
  const queued = { task: 'reset' as const, taskBegunAt: null }
  const running = { task: 'reset' as const, taskBegunAt: at }
  expect([none, queued, running].map(taskStateOf)).toEqual(['none', 'queued', 'running'])
  expect([none, queued, running].map(row => taskAllows(row, 'request'))).toEqual([true, false, false])
  expect([none, queued, running].map(row => taskAllows(row, 'begin'))).toEqual([false, true, false])
  expect([none, queued, running].map(row => taskAllows(row, 'finish'))).toEqual([false, true, true])
})
