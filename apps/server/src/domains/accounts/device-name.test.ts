import { expect, test } from 'vitest'
import { browserName, deviceName } from './device-name.ts'

test.each([
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0.0.0 Safari/537.36',
    'Chrome on Linux'
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
    'Safari on iOS'
  ],
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:133.0) Gecko/20100101 Firefox/133.0', 'Firefox on Windows'],
  ['-', '-'],
  [`own-program/${'1'.repeat(300)}`, null]
])('%s is shown as %s', (userAgent, name) => {
  const shown = deviceName(userAgent)
  if (name === null) expect(shown.length).toBeLessThanOrEqual(70)
  else expect(shown).toBe(name)
})

test('the name of a browser is one of a few dozen, whatever a program calls itself', () => {
  expect(browserName('Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:133.0) Gecko/20100101 Firefox/133.0')).toBe(
    'Firefox'
  )
  for (const made of ['own-program/1', 'x'.repeat(500), '', undefined]) expect(browserName(made)).toBe('other')
})
