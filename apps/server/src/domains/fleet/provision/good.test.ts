import { expect, test } from 'vitest'
import { barOf, mayReplace } from './good.ts'

test('a new program is measured by what was measured through the kept one, or else is known of it', () => {
  expect(barOf(null, 'serves')).toBe('serves')
  expect(barOf({ level: null, runs: true }, 'reaches')).toBe('reaches')
  // Sites that nobody reaches today are no fault of the new program.
  expect(barOf({ level: 'reaches', runs: true }, 'serves')).toBe('serves')
  // Nobody could ask, or what was asked is a program that an installation left behind.
  expect(barOf({ level: 'reaches', runs: true }, null)).toBe('reaches')
  expect(barOf({ level: 'reaches', runs: false }, 'silent')).toBe('reaches')
})

test('a silent program takes the place of no other one than a silent one', () => {
  expect(mayReplace({ level: 'serves', runs: true }, 'silent')).toBe(false)
  expect(mayReplace({ level: 'silent', runs: true }, 'silent')).toBe(true)
  expect(mayReplace({ level: null, runs: false }, 'silent')).toBe(true)
  expect(mayReplace(null, 'silent')).toBe(true)
  expect(mayReplace({ level: 'reaches', runs: true }, 'serves')).toBe(true)
})
