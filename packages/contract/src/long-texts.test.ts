import { expect, test } from 'vitest'
import type { z } from 'zod'
import type { Route } from './route.ts'
import { routes } from './routes.ts'

const LENGTH = 10_000
/** A pattern that reads a text once takes a hundredth of this; one that restarts at each character takes seconds. */
const MOST_MS = 500

type Part = { where: string; schema: z.ZodType }
type Def = z.core.$ZodTypeDef & Record<string, unknown>
const defOf = (schema: z.ZodType): Def => schema._zod.def as Def
const isSchema = (value: unknown): value is z.ZodType => typeof value === 'object' && value !== null && '_zod' in value

/** Output of transformations, which is never sent by clients. */
const madeHere = new Set<z.ZodType>()

/** Collects every schema that parses input once, with the first call that uses it. */
function collect(schema: unknown, where: string, found: Map<z.ZodType, string>): void {
  if (!isSchema(schema) || found.has(schema)) return
  found.set(schema, where)
  for (const [name, value] of Object.entries(defOf(schema))) {
    if (name === 'out' && isSchema(value)) madeHere.add(value)
    if (name === 'shape')
      for (const [key, inner] of Object.entries(value as object)) collect(inner, `${where}.${key}`, found)
    else for (const inner of Array.isArray(value) ? value : [value]) collect(inner, where, found)
  }
}

/** Does it examine a text with a pattern or a function? A transformation gets what its pipe lets through. */
function looksInto(schema: z.ZodType): boolean {
  const { type, format, checks = [] } = defOf(schema) as Def & { format?: string; checks?: z.core.$ZodCheck[] }
  const own = checks.some(
    ({ _zod: { def } }) => def.check === 'custom' || def.check === 'overwrite' || 'pattern' in def
  )
  return type !== 'object' && (own || format !== undefined || type === 'pipe')
}

const parts = Object.entries(routes).flatMap(([domain, calls]) =>
  Object.entries(calls as Record<string, Route>).flatMap(([name, route]) =>
    (['params', 'query', 'body'] as const).map(part => [`${domain}.${name}.${part}`, route[part]] as const)
  )
)
const schemas = new Map<z.ZodType, string>()
for (const [where, schema] of parts) collect(schema, where, schemas)
const looking: Part[] = [...schemas]
  .map(([schema, where]) => ({ schema, where }))
  .filter(({ schema }) => looksInto(schema))

const STARTS = ['', 'http://', 'a@', '1.1.1.1/']
const REPEATED = 'a|1| |\n|\t|.|,|:|-|_|=|/|#|*|@|a.|1,|a |::|{a}|1.1.1.1\n|é'.split('|')
const ENDS = [' b', '\0']

const texts = STARTS.flatMap(start =>
  REPEATED.flatMap(unit => ENDS.map(end => start + unit.repeat(LENGTH / unit.length) + end))
)

/** CPU milliseconds, so that the machine's other work does not count. */
const timeOf = (work: () => unknown): number => {
  const began = process.cpuUsage()
  try {
    work()
  } catch {
    // The result for such a text does not matter.
  }
  const { user, system } = process.cpuUsage(began)
  return (user + system) / 1000
}

const LIST = 100_000

test('of a list that is too long not each entry is looked at', () => {
  const lists = [...schemas].filter(([schema]) => defOf(schema).type === 'array' && !madeHere.has(schema))
  expect(lists.length).toBeGreaterThan(20)
  const looked = lists.flatMap(([schema, where]) =>
    ['x', null, {}].flatMap(entry => {
      const read = schema.safeParse(Array.from({ length: LIST }, () => entry))
      return (read.error?.issues.length ?? LIST) < LIST / 2 ? [] : [`${where} of ${JSON.stringify(entry)}`]
    })
  )
  expect(looked).toEqual([])
})

test('no text takes long to be refused, however long it is', () => {
  expect(looking.length).toBeGreaterThan(100)
  const slow = looking.flatMap(({ schema, where }) => {
    const text = texts.find(one => timeOf(() => schema.safeParse(one)) > MOST_MS)
    return text === undefined ? [] : [`${where}: ${JSON.stringify(text.slice(0, 20))}…`]
  })
  expect(slow).toEqual([])
}, 300_000)
