/** Cities where data centres stand, for names that say no country. */
const CITIES: Record<string, string> = {
  US: 'new york|ashburn|los angeles|dallas|chicago|miami|seattle|atlanta|san jose|silicon valley|phoenix|denver|boston|las vegas|washington|virginia|new jersey|new mexico|california|texas|纽约|洛杉矶|硅谷|芝加哥|达拉斯|西雅图|迈阿密',
  GB: 'london|manchester|england|united kingdom|伦敦',
  DE: 'frankfurt|berlin|munich|düsseldorf|falkenstein|nuremberg|法兰克福|柏林',
  FR: 'paris|marseille|roubaix|gravelines|strasbourg|巴黎',
  NL: 'amsterdam|rotterdam|阿姆斯特丹',
  IT: 'milan|rome|米兰|罗马',
  ES: 'madrid|barcelona|马德里',
  SE: 'stockholm|斯德哥尔摩',
  NO: 'oslo|奥斯陆',
  FI: 'helsinki|赫尔辛基',
  CH: 'zurich|zürich|geneva|苏黎世',
  AT: 'vienna|维也纳',
  PL: 'warsaw|华沙',
  IE: 'dublin|都柏林',
  RU: 'moscow|saint petersburg|莫斯科',
  BR: 'são paulo|sao paulo|rio de janeiro|圣保罗',
  CA: 'toronto|montreal|montréal|vancouver|beauharnois|多伦多|蒙特利尔|温哥华',
  AU: 'sydney|melbourne|brisbane|perth|悉尼|墨尔本',
  JP: 'tokyo|osaka|东京|大阪',
  KR: 'seoul|busan|首尔',
  HK: 'hong kong|香港',
  TW: 'taipei|台北',
  CN: 'shanghai|beijing|shenzhen|guangzhou|上海|北京|深圳|广州',
  SG: 'singapore|新加坡',
  MY: 'kuala lumpur|吉隆坡',
  TH: 'bangkok|曼谷',
  VN: 'hanoi|ho chi minh|河内|胡志明',
  ID: 'jakarta|雅加达',
  IN: 'mumbai|delhi|bangalore|bengaluru|chennai|孟买|德里'
}

/** Each country's names, longest first: 'South Korea' before 'Korea'. Made when it is first needed. */
let names: [name: string, code: string][] | undefined

function allNames(): [name: string, code: string][] {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('')
  const codes = letters.flatMap(one => letters.map(other => one + other))
  const found: [string, string][] = ['en', 'zh-CN'].flatMap(language => {
    const display = new Intl.DisplayNames(language, { type: 'region', fallback: 'none' })
    return codes.flatMap((code): [string, string][] => {
      const name = display.of(code)
      return name ? [[name.toLowerCase(), code]] : []
    })
  })
  for (const [code, cities] of Object.entries(CITIES)) for (const city of cities.split('|')) found.push([city, code])
  return found.toSorted(([one], [other]) => other.length - one.length)
}

/** Whether a name stands in a text as words of its own; Chinese has no spaces between them. */
function hasName(text: string, name: string): boolean {
  const at = text.indexOf(name)
  if (at < 0) return false
  if (/[\u4e00-\u9fff]/.test(name)) return true
  const isLetter = (char: string | undefined) => char !== undefined && /\p{L}/u.test(char)
  return !isLetter(text[at - 1]) && !isLetter(text[at + name.length])
}

/** The country (two letters) that a place's name says, by itself or by a well-known city; undefined where it says none. */
export function countryOf(place: string): string | undefined {
  const text = place.toLowerCase()
  names ??= allNames()
  const named = names.find(([name]) => hasName(text, name))
  if (named) return named[1]
  // Two capital letters that are a country's: 'DE-1', 'Node US'.
  const code = /(?<!\p{L})([A-Z]{2})(?!\p{L})/u.exec(place)?.[1]
  const known = code && new Intl.DisplayNames('en', { type: 'region', fallback: 'none' }).of(code)
  return known ? code : undefined
}

/** A country's name in a language. */
export const countryName = (code: string, language: string): string =>
  new Intl.DisplayNames(language, { type: 'region' }).of(code) ?? code
