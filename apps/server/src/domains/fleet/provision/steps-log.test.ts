import { expect, test } from 'vitest'
import { StepsLog } from './steps-log.ts'

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
  const message = '192.0.2.1 closed the connection'
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
