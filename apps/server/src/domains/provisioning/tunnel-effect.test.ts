import { expect, test } from 'vitest'
import { layoutOf, unitOf } from './layout.ts'
import { contentOf } from './machine.ts'
import { effectOn, serviceOf } from './tunnel-effect.ts'

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
