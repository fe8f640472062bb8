import { expect, test } from 'vitest'
import { layoutOf, serviceFileOf } from './layout.ts'
import { contentOf } from './machine.ts'
import { tunnelEffect, serviceFingerprint } from './machine-settings.ts'

const current = serviceFingerprint(true, contentOf(serviceFileOf(layoutOf(''))).sha256)
const older = serviceFingerprint(true, 'of an older console')
const alone = serviceFingerprint(false, 'any')

test('tunnels go on if a capable agent hands over under its present service file', () => {
  expect(tunnelEffect({ service: current, handsOver: true })).toBe('hands_over')
  // A change of settings alone leaves the service file as it is.
  expect(tunnelEffect({ service: older, handsOver: true }, { settingsOnly: true })).toBe('hands_over')
})

test('they are cut without systemd, by an older agent, and by another service file', () => {
  for (const service of [alone, older, current, null])
    expect(tunnelEffect({ service, handsOver: false }, { settingsOnly: true })).toBe('restarts')
  expect(tunnelEffect({ service: alone, handsOver: null })).toBe('restarts')
  expect(tunnelEffect({ service: older, handsOver: true })).toBe('restarts')
})

test('if nothing is known, nothing is promised', () => {
  expect(tunnelEffect({ service: null, handsOver: true })).toBe('unknown')
  expect(tunnelEffect({ service: current, handsOver: null })).toBe('unknown')
})
