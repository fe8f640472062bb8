import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'oxc-parser'

const FOLDERS = ['apps', 'packages', 'scripts', 'e2e', 'bench']
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
  'for so long'
] as const
const phrase = new RegExp(`\\b(?:${PHRASES.join('|')})\\b`, 'i')

/** Comments, and subjects of commits since this rule, that hold such a phrase. */
export function plainWordViolations(root: string): Violation[] {
  return [...sourcesIn(root).flatMap(commentsIn), ...subjectsIn(root)].flatMap(({ where, text }) => {
    const found = phrase.exec(text.replaceAll(/\s+(?:\*\s+)?/g, ' '))?.[0]
    return found ? [{ rule: 'plain-words', where, what: `says '${found}': ${HOW}` }] : []
  })
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

function subjectsIn(root: string): Text[] {
  const git = (...args: string[]) => spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout?.trim() ?? ''
  const first = git('log', '--diff-filter=A', '--format=%H', '--', 'scripts/rules/plain-words.ts').split('\n').at(-1)
  if (!first) return []
  return git('log', '--no-merges', '--format=%h %s', `${first}..HEAD`)
    .split('\n')
    .map(line => ({ where: line.slice(0, line.indexOf(' ')), text: line.slice(line.indexOf(' ') + 1) }))
}

/** A place that violates a rule. */
export type Violation = {
  rule: string
  /** The file's path below the root, with the line if known. */
  where: string
  what: string
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
