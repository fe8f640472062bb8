import { expect, test } from 'vitest'
import { sentenceOf } from '@netlet/contract'
import { checkGeofeed } from './geofeed.ts'

test('lines of RFC 8805, comments and blank lines are right', () => {
  const text = [
    '# our ranges',
    '',
    '192.0.2.0/24,US,US-NY,New York,',
    '198.51.100.7,JP',
    '2001:db8::/32,GB,GB-ENG,London,EC1A # the lot',
    '203.0.113.0/25,,,,',
    '203.0.113.128/25'
  ].join('\r\n')
  expect(checkGeofeed(text)).toBeUndefined()
  expect(checkGeofeed('')).toBeUndefined()
})

test('the first wrong line is named with what is wrong', () => {
  const wrong: [line: string, problem: string][] = [
    ['nonsense', "'nonsense' is not an address range"],
    ['192.0.2.1/24,US', "'192.0.2.1/24' is not an address range"],
    ['192.0.2.0/33', "'192.0.2.0/33' is not an address range"],
    ['192.0.2/24', "'192.0.2/24' is not an address range"],
    ['2001:db8::1/32', "'2001:db8::1/32' is not an address range"],
    [',US', "'' is not an address range"],
    ['192.0.2.0/24,USA', "'USA' is not a country code of ISO 3166, such as GB or US"],
    ['192.0.2.0/24,UK', "'UK' is not a country code of ISO 3166, such as GB or US"],
    ['192.0.2.0/24,US,NY', "'NY' is not a region code of ISO 3166-2, such as US-NY"],
    ['192.0.2.0/24,US,US-XX', "'US-XX' is not a region code of ISO 3166-2, such as US-NY"],
    ['192.0.2.0/24,US,GB-ENG', 'the region GB-ENG is not in the country US'],
    ['192.0.2.0/24,,US-NY', 'the region US-NY is not in the country –'],
    ['192.0.2.0/24,US,US-NY,New York,10001,more', 'has more than five fields'],
    ['198.51.100.0/24,US', '198.51.100.0/24 is already listed in line 1']
  ]
  for (const [line, problem] of wrong) {
    const refused = checkGeofeed(`198.51.100.0/24,US\n${line}\nalso wrong`)
    expect(refused && sentenceOf(refused)).toBe(`Line 2: ${problem}`)
  }
})
