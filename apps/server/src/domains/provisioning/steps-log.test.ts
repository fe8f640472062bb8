import { PROVISIONING_STEPS } from '@netlet/contract'
import { expect, test } from 'vitest'
import { NEXT_STEPS, StepsLog } from './steps-log.ts'

/** Every step that the table allows at or after one. */
function after(step: (typeof PROVISIONING_STEPS)[number]): Set<string> {
  const found = new Set<string>([step])
  for (const at of found) for (const next of NEXT_STEPS[at as typeof step]) found.add(next)
  return found
}

test('every step comes after the first one, and leads to the last one, where a provisioning ends', () => {
  expect(after('waiting')).toEqual(new Set(PROVISIONING_STEPS))
  for (const step of PROVISIONING_STEPS) expect(after(step)).toContain('done')
  expect(PROVISIONING_STEPS.filter(step => NEXT_STEPS[step].length === 0)).toEqual(['done'])
})

test('no agent starts before its settings are written, and none is waited for before it starts', () => {
  const before = (step: string) => PROVISIONING_STEPS.filter(other => NEXT_STEPS[other].some(next => next === step))
  expect(before('start')).toEqual(['configure'])
  expect(before('wait')).toEqual(['start'])
})

const log = () => {
  let time = Date.parse('2026-06-15T08:00:00.000Z')
  return new StepsLog(() => new Date((time += 1000)), { init: true })
}

test('each step stays with its message, its times and what the machine printed', () => {
  const steps = log()
  steps.begin('connect', 'Connects')
  steps.print('$ uname\nLinux\n')
  const shown = steps.begin('examine', 'Looks')
  expect(shown).toMatchObject({ status: 'running', step: 'examine', message: 'Looks', run_init: true })
  expect(shown.steps).toMatchObject([
    { step: 'waiting', status: 'done' },
    { step: 'connect', status: 'done', message: 'Connects', output: '$ uname\nLinux\n' },
    { step: 'examine', status: 'running', output: '', ended_at: null }
  ])
})

test('a failure ends the step that ran, in its own words', () => {
  const steps = log()
  steps.begin('connect', 'Connects')
  const said = { code: 'ssh_closed', params: { host: '192.0.2.1' } } as const
  const message = '192.0.2.1 closed the connection.'
  expect(steps.fail(said)).toMatchObject({
    status: 'failed',
    step: 'connect',
    message,
    said: [said],
    steps: [{ status: 'done' }, { step: 'connect', status: 'failed', message, said: [said] }]
  })
})

test('the output is cut between characters', () => {
  const steps = log()
  steps.begin('connect', 'Connects')
  steps.print(`😀${'x'.repeat(3998)}`)
  expect(steps.begin('examine', 'Looks').steps[1]?.output).toBe(`${'x'.repeat(3998)}\n`)
})

test('the output is bounded, and a step that may not come next is a fault', () => {
  const steps = log()
  steps.begin('connect', 'Connects')
  for (let line = 0; line < 1000; line++) steps.print(`line ${line} of many`)
  const { steps: shown } = steps.begin('examine', 'Looks')
  expect(shown[1]?.output.length).toBeLessThanOrEqual(4000)
  expect(shown[1]?.output).toMatch(/line 999 of many\n$/)
  expect(() => steps.begin('wait', 'Waits')).toThrow('wait does not come after examine')
})
