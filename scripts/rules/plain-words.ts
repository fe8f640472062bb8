import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'oxc-parser'
import type { Violation } from './violation.ts'

const FOLDERS = ['apps', 'packages', 'scripts', 'e2e', 'bench']
const CATALOGUES = 'apps/web/src/i18n'
const HOW = 'name who does what: the customer, an operator, the agent.'

/** Phrases that make a reader guess who does what, or when. */
const PHRASES = [
  'whoever',
  'whomever',
  'nobody',
  'of before',
  'by then',
  'anew',
  'told of',
  'at the most',
  'for so long',
  'for good'
] as const
/** Not inside a name of code, such as `noBody`. */
const phrase = new RegExp(
  `\\b(?:${PHRASES.map(([first = '', ...rest]) => `[${first}${first.toUpperCase()}]${rest.join('')}`).join('|')})\\b`
)

/** Comments, texts that the shop shows, and subjects of commits since this rule, that hold such a phrase. */
export function plainWordViolations(root: string): Violation[] {
  return [...sourcesIn(root).flatMap(commentsIn), ...shownTexts(root), ...subjectsIn(root)].flatMap(
    ({ where, text }) => {
      const found = phrase.exec(text.replaceAll(/\s+(?:\*\s+)?/g, ' '))?.[0]
      return found ? [{ rule: 'plain-words', where, what: `says '${found}': ${HOW}` }] : []
    }
  )
}

type Text = { where: string; text: string }

/** Our TypeScript files, with their paths from the root and absolute paths. */
export function sourcesIn(root: string): { file: string; path: string }[] {
  return FOLDERS.filter(folder => existsSync(join(root, folder))).flatMap(folder =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter(name => /\.tsx?$/.test(name) && !/(?:^|\/)node_modules\//.test(name))
      .toSorted()
      .map(name => ({ file: `${folder}/${name}`, path: join(root, folder, name) }))
  )
}

export function commentsIn({ file, path }: { file: string; path: string }): Text[] {
  const source = readFileSync(path, 'utf8')
  return parseSync(file, source).comments.map(({ value, start }) => ({
    where: `${file}:${source.slice(0, start).split('\n').length}`,
    text: value
  }))
}

/** The lines of the English catalogues and of the contract, whose strings are messages and summaries of calls. */
function shownTexts(root: string): Text[] {
  const contract = sourcesIn(root).filter(({ file }) => /^packages\/contract\/src\/.*(?<!\.test)\.ts$/.test(file))
  const catalogues = existsSync(join(root, CATALOGUES)) ? readdirSync(join(root, CATALOGUES)) : []
  const english = catalogues.filter(name => /\ben\.json$/.test(name)).map(name => `${CATALOGUES}/${name}`)
  return [...contract.map(({ file }) => file), ...english].flatMap(file =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .map((text, index) => ({ where: `${file}:${index + 1}`, text }))
  )
}

function subjectsIn(root: string): Text[] {
  const git = (...args: string[]) => spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout?.trim() ?? ''
  const first = git('log', '--diff-filter=A', '--format=%H', '--', 'scripts/rules/plain-words.ts').split('\n').at(-1)
  if (!first) return []
  return git('log', '--no-merges', '--format=%h %s', `${first}..HEAD`)
    .split('\n')
    .map(line => ({ where: line.slice(0, line.indexOf(' ')), text: line.slice(line.indexOf(' ') + 1) }))
}
