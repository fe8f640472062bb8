import { expect, it } from 'vitest'
import { countryName, countryOf } from './country-of.ts'

it.each([
  ['New York', 'US'],
  ['New Jersey', 'US'],
  ['Frankfurt am Main', 'DE'],
  ['South Korea', 'KR'],
  ['香港', 'HK'],
  ['美国 洛杉矶', 'US'],
  ['DE-1', 'DE'],
  ['Node SG', 'SG'],
  ['Los Angeles, CA', 'US'],
  ['Romeo', undefined],
  ['Block of 8', undefined],
  ['/29', undefined],
  ['', undefined]
])('reads %s as %s', (place, country) => expect(countryOf(place)).toBe(country))

it('names a country in the language of the page', () => {
  expect(countryName('DE', 'en')).toBe('Germany')
  expect(countryName('DE', 'zh-CN')).toBe('德国')
})
