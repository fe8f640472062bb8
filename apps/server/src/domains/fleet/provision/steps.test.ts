import { PROVISIONING_STEPS } from '@netlet/contract'
import { expect, test } from 'vitest'
import { NEXT_STEPS } from './steps.ts'

/** Every step that can come at or after one, by the table. */
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
