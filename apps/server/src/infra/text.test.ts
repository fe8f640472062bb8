import { expect, test } from 'vitest'
import { endOf, startOf, storableText } from './text.ts'

test('characters that PostgreSQL refuses are removed', () => {
  expect(storableText('a\0b\ud83dc😀')).toBe('ab\ufffdc😀')
})

test('texts are cut between characters, at both ends', () => {
  expect(startOf('ab😀', 3)).toBe('ab')
  expect(startOf('ab😀', 4)).toBe('ab😀')
  expect(startOf('ab', 0)).toBe('')
  expect(endOf('😀ab', 3)).toBe('ab')
  expect(endOf('😀ab', 4)).toBe('😀ab')
  expect(endOf('ab', 9)).toBe('ab')
  expect(endOf('ab', 0)).toBe('')
})
