import type { GeofeedChange } from '@netlet/contract'
import { expect, test } from 'vitest'
import { isTaken, take } from './geofeed-lines.ts'

const added: GeofeedChange = { kind: 'added', prefix: 'a', saved: null, proposed: 'a,US,,,', server: 'one' }
const changed: GeofeedChange = { kind: 'changed', prefix: 'b', saved: 'b,FR # old', proposed: 'b,GB,,,', server: 'one' }
const removed: GeofeedChange = { kind: 'removed', prefix: 'c', saved: 'c,JP', proposed: null, server: null }
const TEXT = '# ours\nb,FR # old\r\n\nc,JP\nd,DE\n\n'

test('a change is taken into the text, and all other lines stay', () => {
  expect(take(TEXT, added)).toBe('# ours\nb,FR # old\n\nc,JP\nd,DE\na,US,,,')
  expect(take(TEXT, changed)).toBe('# ours\nb,GB,,,\n\nc,JP\nd,DE\n\n')
  expect(take(TEXT, removed)).toBe('# ours\nb,FR # old\n\nd,DE\n\n')
  expect([added, changed, removed].reduce(take, TEXT)).toBe('# ours\nb,GB,,,\n\nd,DE\na,US,,,')
  expect(take('', added)).toBe('a,US,,,')
})

test('a change that was taken is none any more', () => {
  for (const change of [added, changed, removed]) {
    expect(isTaken(TEXT, change)).toBe(false)
    const once = take(TEXT, change)
    expect(isTaken(once, change)).toBe(true)
    expect(take(once, change)).toBe(once)
  }
})
