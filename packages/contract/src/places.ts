/** Cities with servers, with country (ISO 3166-1) and region (ISO 3166-2): defaults for a server's place. */
const CITIES = `
Amsterdam NL NL-NH|Ashburn US US-VA|Athens GR GR-I|Atlanta US US-GA|Auckland NZ NZ-AUK|Bangkok TH TH-10|Barcelona ES ES-B
Beijing CN CN-BJ|Berlin DE DE-BE|Bogota CO CO-DC|Boston US US-MA|Brussels BE BE-BRU|Bucharest RO RO-B|Budapest HU HU-BU
Buenos Aires AR AR-C|Chicago US US-IL|Copenhagen DK DK-84|Dallas US US-TX|Denver US US-CO|Dubai AE AE-DU|Dublin IE IE-D
Frankfurt DE DE-HE|Hamburg DE DE-HH|Helsinki FI FI-18|Hong Kong HK |Houston US US-TX|Istanbul TR TR-34|Jakarta ID ID-JK
Johannesburg ZA ZA-GP|Kyiv UA UA-30|Las Vegas US US-NV|Lisbon PT PT-11|London GB GB-LND|Los Angeles US US-CA|Madrid ES ES-MD
Manchester GB GB-MAN|Manila PH PH-00|Marseille FR FR-13|Melbourne AU AU-VIC|Mexico City MX MX-CMX|Miami US US-FL|Milan IT IT-MI
Montreal CA CA-QC|Mumbai IN IN-MH|Munich DE DE-BY|New Delhi IN IN-DL|New York US US-NY|Osaka JP JP-27|Oslo NO NO-03|Paris FR FR-75C
Phoenix US US-AZ|Prague CZ CZ-10|Riga LV LV-RIX|Rome IT IT-RM|San Francisco US US-CA|San Jose US US-CA|Santiago CL CL-RM
Sao Paulo BR BR-SP|Seattle US US-WA|Seoul KR KR-11|Shanghai CN CN-SH|Singapore SG |Sofia BG BG-22|Stockholm SE SE-AB|Sydney AU AU-NSW
Taipei TW TW-TPE|Tallinn EE EE-37|Tel Aviv IL IL-TA|Tokyo JP JP-13|Toronto CA CA-ON|Vancouver CA CA-BC|Vienna AT AT-9
Vilnius LT LT-VL|Warsaw PL PL-14|Washington US US-DC|Zurich CH CH-ZH`

/** Other names of countries: small cities, states, and Chinese names of cities. */
const OTHERS: Record<string, string> = {
  US: 'silicon valley|virginia|new jersey|new mexico|california|texas|马里兰|纽约|洛杉矶|硅谷|芝加哥|达拉斯|西雅图|迈阿密',
  GB: 'england|伦敦',
  DE: 'dusseldorf|falkenstein|nuremberg|法兰克福|柏林',
  FR: 'roubaix|gravelines|strasbourg|巴黎',
  NL: 'rotterdam|阿姆斯特丹',
  IT: '米兰|罗马',
  // Contains the name of a city in another country.
  RO: '罗马尼亚',
  CR: 'san jose costa rica',
  ES: '马德里',
  SE: '斯德哥尔摩',
  NO: '奥斯陆',
  FI: '赫尔辛基',
  CH: 'geneva|苏黎世',
  AT: '维也纳',
  PL: '华沙',
  IE: '都柏林',
  RU: 'moscow|saint petersburg|莫斯科',
  BR: 'rio de janeiro|圣保罗',
  CA: 'beauharnois|多伦多|蒙特利尔|温哥华',
  AU: 'brisbane|perth|悉尼|墨尔本',
  JP: '东京|大阪',
  KR: 'busan|首尔',
  HK: '香港',
  TW: '台北',
  SG: '新加坡',
  CN: 'shenzhen|guangzhou|上海|北京|深圳|广州',
  MY: 'kuala lumpur|吉隆坡',
  TH: '曼谷',
  VN: 'hanoi|ho chi minh|河内|胡志明',
  ID: '雅加达',
  IN: 'delhi|bangalore|bengaluru|chennai|孟买|德里'
}

export type City = { city: string; country: string; region: string }

const cities: readonly City[] = CITIES.trim()
  .split(/[|\n]/)
  .map(entry => {
    const [, city = '', country = '', region = ''] = /^(.+?) ([A-Z]{2}) (\S*)$/.exec(entry) ?? []
    return { city, country, region }
  })

/** Normalises a name for comparison: 'São Paulo-2' becomes ' sao paulo 2 '. */
const wordsOf = (name: string): string =>
  ` ${name
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .toLowerCase()
    .trim()} `

/** The city in a name: 'New York' in 'ISP · New York 2'. Undefined if there is none, or several. */
export function cityIn(name: string): City | undefined {
  const words = wordsOf(name)
  const found = cities.filter(({ city }) => words.includes(` ${city.toLowerCase()} `))
  return found.length === 1 ? found[0] : undefined
}

type Named = readonly [words: string, country: string]

/** Match whole words. Chinese has no spaces. */
const asWords = (name: string): string => (/\p{Script=Han}/u.test(name) ? wordsOf(name).trim() : wordsOf(name))
/** Longest first: 'South Korea' before 'Korea'. */
const longestFirst = (named: Named[]): readonly Named[] => named.toSorted(([one], [other]) => other.length - one.length)

const byCity = longestFirst([
  ...cities.map(({ city, country }): Named => [asWords(city), country]),
  ...Object.entries(OTHERS).flatMap(([country, names]) =>
    names.split('|').map((name): Named => [asWords(name), country])
  )
])

const regionIn = (language: string) => new Intl.DisplayNames(language, { type: 'region', fallback: 'none' })

/** The current code for an outdated one: 'GB' for 'UK', 'DE' for 'DD'. */
const presentCode = (code: string): string => new Intl.Locale(`und-${code}`).region ?? code

/** Countries by their names in both languages. Built on first use. */
let byCountry: readonly Named[] | undefined
function countries(): readonly Named[] {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('')
  const codes = letters.flatMap(one => letters.map(other => one + other)).filter(code => presentCode(code) === code)
  return longestFirst(
    ['en', 'zh-CN'].flatMap(language => {
      const names = regionIn(language)
      return codes.flatMap((code): Named[] => {
        const name = names.of(code)
        return name ? [[asWords(name), code]] : []
      })
    })
  )
}

/** The countries named in a text. A longer name hides those within it: New Mexico is not Mexico. */
function countriesIn(words: string, named: readonly Named[]): ReadonlySet<string> {
  const found = new Set<string>()
  let left = words
  for (const [name, country] of named)
    if (left.includes(name)) {
      found.add(country)
      left = left.replaceAll(name, ' | ')
    }
  return found
}

/** Two letters that mean several countries, or usually a city (Los Angeles, Las Vegas). */
const NO_COUNTRY = new Set(['EU', 'EZ', 'UN', 'LA', 'LV'])

/**
 * The country (ISO 3166-1) in a place's name: by a city, else by its name, else by two capital letters ('DE-1').
 * Undefined if there is none, or several.
 */
export function countryIn(name: string): string | undefined {
  const words = wordsOf(name)
  for (const named of [byCity, (byCountry ??= countries())]) {
    const found = countriesIn(words, named)
    if (found.size > 0) return found.size === 1 ? [...found][0] : undefined
  }
  const letters = /(?<!\p{L})([A-Z]{2})(?!\p{L})/u.exec(name)?.[1] ?? ''
  if (letters === '' || NO_COUNTRY.has(letters)) return undefined
  const code = presentCode(letters)
  return regionIn('en').of(code) ? code : undefined
}
