import { expect, it } from 'vitest'
import { cityIn, countryIn } from './places.ts'

it.each([
  ['New York', 'US'],
  ['ISP · New York 2', 'US'],
  ['New Jersey', 'US'],
  ['New Mexico', 'US'],
  ['Frankfurt am Main', 'DE'],
  ['Düsseldorf', 'DE'],
  ['São Paulo', 'BR'],
  ['South Korea', 'KR'],
  ['Hong Kong, China', 'HK'],
  ['Paris, France', 'FR'],
  ['香港', 'HK'],
  ['美国 洛杉矶', 'US'],
  ['DE-1', 'DE'],
  ['UK-1', 'GB'],
  ['Germany', 'DE'],
  ['EU-1', undefined],
  ['LA-1', undefined],
  ['San Jose, Costa Rica', 'CR'],
  ['马里兰', 'US'],
  ['Node SG', 'SG'],
  ['Los Angeles, CA', 'US'],
  ['Dallas and New York', 'US'],
  ['London and Paris', undefined],
  ['Germany, France', undefined],
  ['Londonderry', undefined],
  ['Romeo', undefined],
  ['Block of 8', undefined],
  ['/29', undefined],
  ['', undefined]
])('the country that %j says is %s', (place, country) => expect(countryIn(place)).toBe(country))

it('a city is known with its region, where a name has one city in it', () => {
  expect(cityIn('ISP · New York 2')).toMatchObject({ country: 'US', region: 'US-NY' })
  expect(cityIn('São Paulo')).toMatchObject({ city: 'Sao Paulo' })
  expect(cityIn('Singapore')).toEqual({ city: 'Singapore', country: 'SG', region: '' })
  expect(cityIn('London and Paris')).toBeUndefined()
  expect(cityIn('Londonderry')).toBeUndefined()
})

it.each(['en', 'zh-CN'])('the name of each country says that country: %s', language => {
  const names = new Intl.DisplayNames(language, { type: 'region', fallback: 'none' })
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('')
  const countries = letters
    .flatMap(one => letters.map(other => one + other))
    // Current codes only.
    .filter(code => names.of(code) && new Intl.Locale(`und-${code}`).region === code)
  const wrong = countries.filter(code => countryIn(names.of(code) ?? '') !== code)
  expect(wrong.map(code => `${names.of(code)}: ${code}, ${countryIn(names.of(code) ?? '')}`)).toEqual([])
})
