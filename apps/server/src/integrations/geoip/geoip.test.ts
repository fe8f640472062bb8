import { expect, test } from 'vitest'
import { countryOf } from './index.ts'

test.each([
  ['8.8.8.8', 'US'],
  ['::ffff:8.8.8.8', 'US'],
  ['193.0.6.139', 'NL'],
  ['2001:4860:4860::8888', 'US']
])('%s is in %s', (ip, country) => {
  expect(countryOf(ip)).toBe(country)
})

test.each(['127.0.0.1', '10.0.0.1', '::1', 'localhost', '', '999.1.1.1', '8.8.8.8, 1.1.1.1'])(
  '%j has no country',
  ip => {
    expect(countryOf(ip)).toBeNull()
  }
)
