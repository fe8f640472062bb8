import { expect, test } from 'vitest'
import { canReplaceGood, requiredLevel } from './releases.ts'

const serving = { folder: '/r', level: 'serves', runs: true } as const
const reaching = { ...serving, level: 'reaches' } as const

test('a new program must get as far as the good one got just before, or as is known of it', () => {
  expect(requiredLevel(null, 'serves')).toBe('serves')
  expect(requiredLevel({ ...serving, level: null }, 'reaches')).toBe('reaches')
  // If no one reaches a site today, that is no fault of the new program.
  expect(requiredLevel(reaching, 'serves')).toBe('serves')
  // No measurement, or one of a program that an installation left behind.
  expect(requiredLevel(reaching, null)).toBe('reaches')
  expect(requiredLevel({ ...reaching, runs: false }, 'silent')).toBe('reaches')
})

test('a silent program takes the place of no other one than a silent one', () => {
  expect(canReplaceGood(serving, 'silent')).toBe(false)
  expect(canReplaceGood({ ...serving, level: 'silent' }, 'silent')).toBe(true)
  expect(canReplaceGood({ ...serving, level: null, runs: false }, 'silent')).toBe(true)
  expect(canReplaceGood(null, 'silent')).toBe(true)
  expect(canReplaceGood(reaching, 'serves')).toBe(true)
})
