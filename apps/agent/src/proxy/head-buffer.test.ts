import { expect, test } from 'vitest'
import { HeadBuffer, type NextHead } from './head-buffer.ts'

/** Feeds a text in pieces of these sizes. Returns the heads and the rest. */
function heads(text: string, sizes: () => number) {
  const buffer = new HeadBuffer()
  const found: NextHead[] = []
  for (let at = 0; at < text.length;) {
    const piece = text.slice(at, (at += sizes()))
    buffer.push(Buffer.from(piece, 'latin1'), 1)
    let next = buffer.next(1000, 1)
    for (; next.kind === 'head'; next = buffer.next(1000, 1)) found.push(next)
    if (next.kind !== 'none') return { found, end: next.kind }
  }
  return { found, end: buffer.take()?.toString('latin1') ?? '' }
}

const long = 'x'.repeat(990)
test.each([
  ['two heads and a half', 'GET / HTTP/1.1\r\nA: b\r\n\r\nGET /2 HTTP/1.1\r\n\r\nGET /3'],
  ['empty lines between heads', '\r\n\r\nGET / HTTP/1.1\r\n\r\n\r\nGET /2 HTTP/1.1\r\n\r\n'],
  ['a line feed alone', 'GET / HTTP/1.1\r\nA: b\nC: d'],
  ['a line feed first', '\nGET / HTTP/1.1\r\n'],
  ['a long one', `${long}\r\n\r\n${long}`],
  ['one that is too long', `${long}${long}`]
])('%s: the result does not depend on the pieces', (_name, text) => {
  const bytes = heads(text, () => 1)
  for (let seed = 1; seed < 40; seed++) {
    let state = seed
    const sizes = () => 1 + ((state = (state * 48_271) % 2_147_483_647) % (seed % 7 === 0 ? 300 : 6))
    expect(heads(text, sizes)).toEqual(bytes)
  }
  if (!/(?<!\r)\n/.test(text)) expect(heads(text, () => text.length)).toEqual(bytes)
})
