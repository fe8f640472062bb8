/** Values and requests that no honest caller sends, made from honest ones by a generator of a known seed. */

export type Random = {
  /** A whole number from 0 to below `end`. */
  below(end: number): number
  pick<T>(from: readonly T[]): T
  chance(probability: number): boolean
}

/** The same numbers for the same seed, on every machine (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number) => Math.floor(next() * end)
  return {
    below,
    pick: from => from[below(from.length)] as never,
    chance: probability => next() < probability
  }
}

/** Stands in a value for a piece of JSON that no JavaScript value is written as. */
const raw = (json: string) => `\u0001${json}\u0001`
const withRaw = (json: string) => json.replaceAll(/"\\u0001(.*?)\\u0001"/g, '$1')

const deep = (levels: number): unknown => (levels === 0 ? null : { a: [deep(levels - 1)] })

const TEXTS = [
  '',
  ' ',
  '0',
  '-1',
  '1e3',
  '0x10',
  'NaN',
  'Infinity',
  'null',
  'true',
  '1,2,3',
  ',',
  '1;2',
  '2147483648',
  '999999999999999',
  '9223372036854775808',
  '12.345',
  '１２',
  '\0',
  'a\0b',
  '\ud800',
  'x\udfff',
  '\u202e\u200b',
  '😀'.repeat(30),
  'ä'.repeat(255),
  'x'.repeat(256),
  'x'.repeat(70_000),
  "'; drop table users; --",
  '%',
  '%_\\',
  '\\',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  '${7*7}{{7*7}}',
  'a\r\nSet-Cookie: a=b',
  '__proto__',
  'constructor',
  '2026-02-30T25:61:61Z',
  '0000-00-00',
  '::/0',
  '300.1.1.1/99',
  'anna@example.com\nbcc: x@example.com'
]
const VALUES: unknown[] = [
  ...TEXTS,
  null,
  true,
  false,
  0,
  -1,
  1.5,
  -0.001,
  2 ** 31,
  2 ** 53 + 2,
  1e308,
  raw('1e400'),
  raw('-9223372036854775809'),
  raw('1.0000000000000000000001'),
  [],
  [null],
  [[]],
  ['1', 2, null],
  Array.from({ length: 600 }, (_, at) => at + 1),
  {},
  { length: 3 },
  { toString: 'x', valueOf: null },
  { $ne: null },
  deep(40)
]

type Path = (string | number)[]

function pathsIn(value: unknown, here: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return here.length > 0 ? [here] : []
  const inner = Object.entries(value).flatMap(([key, one]) =>
    pathsIn(one, [...here, Array.isArray(value) ? Number(key) : key])
  )
  return here.length > 0 ? [here, ...inner] : inner
}

/** A copy of an honest value in which one thing, or a few, are something else. */
export function mutate(honest: unknown, random: Random): unknown {
  const copy = structuredClone(honest)
  const rounds = random.chance(0.2) ? 3 : 1
  for (let round = 0; round < rounds; round++) {
    const paths = pathsIn(copy)
    const path = paths.length > 0 ? random.pick(paths) : undefined
    const last = path?.at(-1)
    if (!path || last === undefined) return structuredClone(random.pick(VALUES))
    const parent = path.slice(0, -1).reduce<Record<string, unknown>>((at, key) => at[key] as never, copy as never)
    if (random.chance(0.15)) delete parent[last]
    else if (random.chance(0.1)) parent[last] = [parent[last]]
    else parent[last] = structuredClone(random.pick(VALUES))
  }
  return copy
}

export type Sent = { payload: string | Buffer | undefined; type: string | undefined }

/** JSON text with what JavaScript itself would not write. */
export const toJson = (value: unknown): string => withRaw(JSON.stringify(value))

const MEGABYTE = 1024 * 1024
const HUGE = JSON.stringify({ name: 'x'.repeat(2 * MEGABYTE), geofeed: 'x'.repeat(8) })

/** A body that is broken as a whole. */
export function brokenBody(honest: unknown, random: Random): Sent {
  const text = toJson(honest ?? {})
  const json = 'application/json'
  return random.pick<() => Sent>([
    () => ({ payload: text.slice(0, -1), type: json }),
    () => ({ payload: `${text}}`, type: json }),
    () => ({ payload: '', type: json }),
    () => ({ payload: `\ufeff${text}`, type: json }),
    () => ({ payload: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), type: json }),
    () => ({ payload: Buffer.from('{"name":"\\ud800","a":"\\u0000"}'), type: json }),
    () => ({ payload: `{"__proto__":{"isSuperuser":true},${text.slice(1)}`, type: json }),
    () => ({ payload: `{"constructor":{"prototype":{"is_superuser":true}},${text.slice(1)}`, type: json }),
    () => ({ payload: `{"id":[],"name":{},${text.slice(1)}`, type: json }),
    () => ({ payload: '['.repeat(5000), type: json }),
    () => ({ payload: `${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}`, type: json }),
    () => ({ payload: HUGE, type: json }),
    () => ({ payload: text, type: 'text/plain' }),
    () => ({ payload: 'username=anna&password=x', type: 'application/x-www-form-urlencoded' }),
    () => ({ payload: '--x\r\n\r\n--x--', type: 'multipart/form-data; boundary=x' }),
    () => ({ payload: text, type: 'application/json; charset=utf-16' }),
    () => ({ payload: text, type: 'application/JSON;;;=' }),
    () => ({ payload: text, type: undefined }),
    () => ({ payload: random.pick(['null', '[]', '"text"', '5', 'true', 'NaN', 'undefined']), type: json })
  ])()
}

/** A query string: of an honest one with some values changed, or of names and codes that decode to nothing good. */
export function hostileQuery(honest: Record<string, unknown>, random: Random): string {
  const parts = Object.entries(honest).map(
    ([name, value]) => `${name}=${encode(random.chance(0.4) ? random.pick(TEXTS) : value)}`
  )
  const extra = random.pick([
    '',
    'limit=1&limit=2',
    'offset[]=1',
    'search=a&search=b',
    'search=%00',
    'search=%ff%fe',
    'search=%zz',
    'limit=%31%30',
    'limit=0',
    'limit=10001',
    'offset=999999999',
    'offset=-1',
    '__proto__=1',
    'constructor[prototype]=1',
    '&&==&',
    `search=${'x'.repeat(3000)}`
  ])
  return [...parts, extra].filter(Boolean).join('&')
}

/** A query value; halves of surrogate pairs have no encoding, so they go as the bytes that careless programs send. */
function encode(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return encodeURIComponent(text.slice(0, 4000).toWellFormed())
}

export const HOSTILE_IDS = [
  '0',
  '-1',
  '+1',
  '1.5',
  '1e3',
  '01',
  'NaN',
  'null',
  '%00',
  '1%00',
  '%ff',
  '%zz',
  '%20',
  '1%2f2',
  '..%2f..',
  '2147483648',
  '999999999999999',
  '9999999999999999',
  '9223372036854775808',
  '%EF%BC%91',
  'x'.repeat(250),
  '1;2',
  '1,2',
  '__proto__'
]

export const HOSTILE_HEADERS: Record<string, string>[] = [
  { cookie: 'netlet_session=' },
  { cookie: 'netlet_session=%00; netlet_oauth=%ff' },
  { cookie: `netlet_session=${'x'.repeat(4000)}` },
  { cookie: '=;;=; netlet_session="\\"' },
  { authorization: 'Bearer nlk_' },
  { authorization: `Bearer nlk_${'x'.repeat(150)}` },
  { authorization: 'Basic OjpA' },
  { authorization: 'Bearer nlk_\u00ff' },
  { 'x-forwarded-for': 'nonsense, , 1.2.3' },
  { 'x-forwarded-for': '::ffff:1.2.3.4%eth0' },
  { 'x-signature': '\u00ff', 'x-shopify-hmac-sha256': '=' },
  { 'x-shopify-topic': 'products/none', 'x-shopify-webhook-id': 'x'.repeat(2000) },
  { 'user-agent': 'x'.repeat(4000) },
  { accept: 'text/html', 'accept-language': '*' },
  { origin: 'null' },
  { 'sec-fetch-site': 'cross-site' }
]
