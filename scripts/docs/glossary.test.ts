import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formMessages, refusals } from '@netlet/contract'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const glossary = read('docs/GLOSSARY.md')

/** Catalogues that customers read. The console's are not among them. */
const CATALOGUES = ['', 'account.', 'landing.', 'levels.', 'product.', 'proxies.', 'receipts.', 'reference.', 'status.']

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
const catalogue = (file: string): Text[] =>
  Object.entries(JSON.parse(read(`apps/web/src/i18n/${file}`)) as Record<string, string>).map(([key, text]) => ({
    where: `${file} ${key}`,
    text
  }))

/** Texts that use a word of a "not" column, with the word that they should use. */
function misused(texts: Text[], words: (term: Term) => string[], isIn: (word: string, text: string) => boolean) {
  return texts.flatMap(({ where, text }) =>
    terms.flatMap(term => words(term).flatMap(word => (isIn(word, text) ? [`${where}: ${word} (${text})`] : [])))
  )
}
const wordIn = (word: string, text: string) => new RegExp(`\\b${word}\\b`, 'i').test(text)
const partIn = (part: string, text: string) => text.includes(part)

test('the glossary has each term once, in both languages', () => {
  expect(terms.length).toBeGreaterThanOrEqual(60)
  expect(new Set(terms.map(({ english }) => english)).size).toBe(terms.length)
  expect(terms.filter(({ english, chinese }) => !english || !chinese)).toEqual([])
})

test('customers read no English word that the glossary replaces', () => {
  const messages = [...Object.entries(formMessages), ...Object.entries(refusals).map(([key, [, text]]) => [key, text])]
  const texts = [
    ...CATALOGUES.flatMap(name => catalogue(`${name}en.json`)),
    ...messages.map(([key = '', text = '']) => ({ where: key, text }))
  ]
  expect(misused(texts, ({ not }) => not, wordIn)).toEqual([])
})

test('customers read no Chinese word that the glossary replaces', () => {
  const texts = [...CATALOGUES.map(name => `${name}zh-CN.json`), 'reasons.zh-CN.json'].flatMap(catalogue)
  expect(misused(texts, ({ notChinese }) => notChinese, partIn)).toEqual([])
})
