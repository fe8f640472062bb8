import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'oxc-parser'

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

function commentsIn({ file, path }: { file: string; path: string }): Text[] {
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

const LONGEST_SUBJECT = 72

/** Commits since CONTRIBUTING.md was added whose subject is too long. Without a git history there are none. */
export function commitViolations(root: string): Violation[] {
  const git = (...args: string[]) => spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout?.trim() ?? ''
  const first = git('log', '--diff-filter=A', '--format=%H', '--', 'CONTRIBUTING.md').split('\n').at(-1)
  if (!first) return []
  return git('log', '--no-merges', '--format=%h %s', `${first}..HEAD`)
    .split('\n')
    .map(line => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)] as const)
    .filter(([, subject]) => subject.length > LONGEST_SUBJECT)
    .map(([commit, subject]) => ({
      rule: 'short-commit-subjects',
      where: commit,
      what: `has a subject of ${subject.length} characters; ${LONGEST_SUBJECT} are allowed.`
    }))
}

/** Keys of records are as long as their text; `startOf` cuts. */
const UNBOUNDED =
  /(?<!z\.record\()z\s*\.string\(\)(?!(?:\s*\.min\(\d+\))?\s*\.(?:max|regex)\(|\.transform\(text => startOf\()/g

/** Texts of other services whose length no schema bounds. */
export const unboundedTextViolations = (root: string): Violation[] =>
  sourcesIn(root)
    .filter(({ file }) => file.startsWith('apps/server/src/integrations/') && !/\.(?:test|fixture)\./.test(file))
    .flatMap(({ file, path }) => {
      const text = readFileSync(path, 'utf8')
      return [...text.matchAll(UNBOUNDED)].map(({ index }) => ({
        rule: 'unbounded-texts',
        where: `${file}:${text.slice(0, index).split('\n').length}`,
        what: 'takes a text of any length from another service. Use integrations/foreign-texts.ts.'
      }))
    })

/** A place that violates a rule. */
export type Violation = {
  rule: string
  /** The file's path below the root, with the line if known. */
  where: string
  what: string
}
