import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { commentsIn, sourcesIn } from './plain-words.ts'
import type { Violation } from './violation.ts'

const FROM_ROOT = /(?<![\w./@-])(?:apps|packages|scripts|bench|e2e)\/[\w./-]+\.(?:[cm]?[jt]sx?|sql|css)\b/g
const BESIDE = /(?<=new URL\(\s*')\.{1,2}\/[\w./-]+\.[cm]?[jt]sx?(?=',\s*import\.meta\.url)/g
const IN_COMMENT = /(?<![\w./@*-])(?!(?:apps|packages|scripts|bench|e2e)\/)[a-z\d][\w./-]*\.(?:[cm]?[jt]sx?|sql|css)\b/g

/**
 * Files that code or comments name by a path that does not exist. The compiler checks only imports. In comments, paths
 * start at the folder of the file or at one above it.
 */
export function namedFileViolations(root: string): Violation[] {
  const inCode = sourcesIn(root)
    .filter(({ file }) => !/\.(?:test|spec|fixture)\./.test(file))
    .flatMap(({ file, path }) => {
      const text = readFileSync(path, 'utf8')
      const named = (pattern: RegExp, folder: string) =>
        [...text.matchAll(pattern)].map(({ 0: name, index }) => ({
          where: `${file}:${text.slice(0, index).split('\n').length}`,
          name,
          folders: [folder]
        }))
      return [...named(FROM_ROOT, root), ...named(BESIDE, dirname(path))]
    })
  const inComments = sourcesIn(root)
    .flatMap(commentsIn)
    .flatMap(({ where, text }) => {
      const folders = where.split('/').map((_, depth, parts) => join(root, ...parts.slice(0, depth)))
      return [...text.matchAll(IN_COMMENT)].map(([name]) => ({ where, name, folders }))
    })
  return [...inCode, ...inComments]
    .filter(({ name, folders }) => !folders.some(folder => existsSync(join(folder, name))))
    .map(({ where, name }) => ({ rule: 'named-files', where, what: `names ${name}, which does not exist.` }))
}
