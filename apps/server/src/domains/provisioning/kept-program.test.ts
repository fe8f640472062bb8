import { expect, test } from 'vitest'
import { canReplaceKept, requiredLevel } from './kept-program.ts'

test('a new program must get as far as the kept one got just before, or as is known of it', () => {
  expect(requiredLevel(null, 'serves')).toBe('serves')
  expect(requiredLevel({ level: null, runs: true }, 'reaches')).toBe('reaches')
  // If no one reaches a site today, that is no fault of the new program.
  expect(requiredLevel({ level: 'reaches', runs: true }, 'serves')).toBe('serves')
  // No measurement, or one of a program that an installation left behind.
  expect(requiredLevel({ level: 'reaches', runs: true }, null)).toBe('reaches')
  expect(requiredLevel({ level: 'reaches', runs: false }, 'silent')).toBe('reaches')
})

test('a silent program takes the place of no other one than a silent one', () => {
  expect(canReplaceKept({ level: 'serves', runs: true }, 'silent')).toBe(false)
  expect(canReplaceKept({ level: 'silent', runs: true }, 'silent')).toBe(true)
  expect(canReplaceKept({ level: null, runs: false }, 'silent')).toBe(true)
  expect(canReplaceKept(null, 'silent')).toBe(true)
  expect(canReplaceKept({ level: 'reaches', runs: true }, 'serves')).toBe(true)
})
