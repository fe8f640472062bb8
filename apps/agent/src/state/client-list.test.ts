import { expect, test } from 'vitest'
import { changedClients, resentClients, sameList, sentClients } from './client-list.ts'

test('two lists are the same if they have the same texts in the same order', () => {
  expect(sameList([], [])).toBe(true)
  expect(sameList(['a', 'b'], ['a', 'b'])).toBe(true)
  expect(sameList(['a', 'b'], ['b', 'a'])).toBe(false)
  expect(sameList(['a'], ['a', 'b'])).toBe(false)
  expect(sameList(['a', 'b'], ['a'])).toBe(false)
})

test('an operator’s list is kept beside the console’s, until both are equal', () => {
  const sent = { allowedClientIps: ['a', 'b'] }
  expect(sentClients(sent)).toEqual(['a', 'b'])
  const changed = changedClients(sent, ['a', 'c'])
  expect(changed).toEqual({ allowedClientIps: ['a', 'c'], sentClientIps: ['a', 'b'] })
  expect(sentClients(changed)).toEqual(['a', 'b'])
  expect(changedClients(changed, ['a', 'b'])).toEqual({ allowedClientIps: ['a', 'b'] })
})

test('clients that operators added or removed stay so when the console sends its list again', () => {
  expect(resentClients(undefined, ['a'])).toEqual({ allowedClientIps: ['a'] })
  expect(resentClients({ allowedClientIps: ['a', 'b'] }, ['c'])).toEqual({ allowedClientIps: ['c'] })
  const changed = { allowedClientIps: ['x', 'b'], sentClientIps: ['a', 'b'] }
  expect(resentClients(changed, ['d', 'a', 'b'])).toEqual({
    allowedClientIps: ['b', 'd', 'x'],
    sentClientIps: ['d', 'a', 'b']
  })
  expect(resentClients(changed, ['d', 'a'])).toEqual({ allowedClientIps: ['d', 'x'], sentClientIps: ['d', 'a'] })
  // The console's list has both changes, so no difference is left.
  expect(resentClients(changed, ['b', 'x'])).toEqual({ allowedClientIps: ['b', 'x'] })
})
