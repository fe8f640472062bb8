import { expect, test } from 'vitest'
import { changedClients, resentClients, sameList, sentClients } from './client-list.ts'

test('lists are the same that have the same texts in the same order', () => {
  expect(sameList([], [])).toBe(true)
  expect(sameList(['a', 'b'], ['a', 'b'])).toBe(true)
  expect(sameList(['a', 'b'], ['b', 'a'])).toBe(false)
  expect(sameList(['a'], ['a', 'b'])).toBe(false)
  expect(sameList(['a', 'b'], ['a'])).toBe(false)
})

test('what an operator changes is kept beside what the console sent, until it is the same again', () => {
  const sent = { allowedClientIps: ['a', 'b'] }
  expect(sentClients(sent)).toEqual(['a', 'b'])
  const changed = changedClients(sent, ['a', 'c'])
  expect(changed).toEqual({ allowedClientIps: ['a', 'c'], sentClientIps: ['a', 'b'] })
  expect(sentClients(changed)).toEqual(['a', 'b'])
  expect(changedClients(changed, ['a', 'b'])).toEqual({ allowedClientIps: ['a', 'b'] })
})

test('what operators added and took stays so when the console sends its list again', () => {
  expect(resentClients(undefined, ['a'])).toEqual({ allowedClientIps: ['a'] })
  expect(resentClients({ allowedClientIps: ['a', 'b'] }, ['c'])).toEqual({ allowedClientIps: ['c'] })
  const changed = { allowedClientIps: ['x', 'b'], sentClientIps: ['a', 'b'] }
  expect(resentClients(changed, ['d', 'a', 'b'])).toEqual({
    allowedClientIps: ['b', 'd', 'x'],
    sentClientIps: ['d', 'a', 'b']
  })
  expect(resentClients(changed, ['d', 'a'])).toEqual({ allowedClientIps: ['d', 'x'], sentClientIps: ['d', 'a'] })
  // The console has learned of both: there is no difference left.
  expect(resentClients(changed, ['b', 'x'])).toEqual({ allowedClientIps: ['b', 'x'] })
})
