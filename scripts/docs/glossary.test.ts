import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync, Visitor } from 'oxc-parser'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const glossary = read('docs/GLOSSARY.md')

/** Files with texts that customers or operators read. A text is Chinese if it has a Chinese character. */
const SOURCES = [
  'apps/web/src/i18n/*.json',
  'apps/web/src/shop/policy/policies.*.ts',
  'apps/server/src/{domains,integrations}/{accounts,catalog,chat,commerce,convergence,discord,mail,notices,payments,provisioning,shopify}/**/*.ts',
  'apps/server/src/domains/orders/address-holders.ts',
  'apps/server/src/{api,backup,doctor,pages}/**/*.ts',
  'apps/server/src/*.ts',
  'apps/agent/src/**/*.ts',
  'packages/contract/src/*.ts',
  'scripts/demo/demo-texts.ts'
]
/** Names of the platform's own screens. */
const PLATFORM = /Online Store(?:, Preferences)?|在线商店/g

type Term = { english: string; not: string[]; chinese: string; notChinese: string[] }
const listed = (cell = '') => cell.split(', ').filter(Boolean)

/** Rows of the table, without its head. */
const terms: Term[] = glossary
  .split('\n')
  .filter(line => line.startsWith('| ') && !/^\| (?:English|---)/.test(line))
  .map(line => {
    const [english = '', not, chinese = '', notChinese] = line
      .split('|')
      .slice(1)
      .map(cell => cell.trim())
    return { english, not: listed(not), chinese, notChinese: listed(notChinese) }
  })

type Text = { where: string; text: string }

/** The texts of a catalogue, or the strings of code that have more than one word. */
function textsIn(file: string): Text[] {
  if (file.endsWith('.json'))
    return Object.entries(JSON.parse(read(file)) as Record<string, string>).map(([key, text]) => ({
      where: `${file} ${key}`,
      text
    }))
  const found: Text[] = []
  const add = (text: unknown) => {
    if (typeof text === 'string' && /\S\s+\S|\p{Script=Han}/u.test(text)) found.push({ where: file, text })
  }
  new Visitor({
    Literal: ({ value }) => add(value),
    TemplateElement: ({ value }) => add(value.cooked)
  }).visit(parseSync(file, read(file)).program)
  return found
}

const texts = globSync(SOURCES, { cwd: root })
  .filter(file => !/\.(?:test|fixture|bench)\.ts$/.test(file))
  .flatMap(textsIn)
  .map(({ where, text }) => ({ where, text: text.replaceAll(PLATFORM, '') }))
const isChinese = ({ text }: Text) => /\p{Script=Han}/u.test(text)

/** Texts that use a word of a "not" column, with the word that they should use. */
function misused(texts: Text[], words: (term: Term) => string[], isIn: (word: string, text: string) => boolean) {
  return texts.flatMap(({ where, text }) =>
    terms.flatMap(term => words(term).flatMap(word => (isIn(word, text) ? [`${where}: ${word} (${text})`] : [])))
  )
}
const wordIn = (word: string, text: string) => new RegExp(`(?<![\\w/'"$?{-])${word}(?![\\w'-]|\\.\\w)`, 'i').test(text)
const partIn = (part: string, text: string) => text.includes(part)

test('the glossary has each term once, in both languages', () => {
  expect(terms.length).toBeGreaterThanOrEqual(60)
  expect(new Set(terms.map(({ english }) => english)).size).toBe(terms.length)
  expect(terms.filter(({ english, chinese }) => !english || !chinese)).toEqual([])
})

test('people read no English word that the glossary replaces', () => {
  const english = texts.filter(text => !isChinese(text))
  expect(misused(english, ({ not }) => not, wordIn)).toEqual([])
})

test('people read no Chinese word that the glossary replaces', () => {
  expect(misused(texts.filter(isChinese), ({ notChinese }) => notChinese, partIn)).toEqual([])
})
