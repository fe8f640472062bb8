import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sourcesIn } from './plain-words.ts'
import type { Violation } from './violation.ts'

const FROM_ROOT = /(?<![\w./@-])(?:apps|packages|scripts|bench|e2e)\/[\w./-]+\.(?:[cm]?[jt]sx?|sql|css)\b/g
const BESIDE = /(?<=new URL\(\s*')\.{1,2}\/[\w./-]+\.[cm]?[jt]sx?(?=',\s*import\.meta\.url)/g

/** Files that code or comments name by a path that does not exist. The compiler checks only imports. */
export function namedFileViolations(root: string): Violation[] {
  return sourcesIn(root)
    .filter(({ file }) => !/\.(?:test|spec|fixture)\./.test(file))
    .flatMap(({ file, path }) => {
      const text = readFileSync(path, 'utf8')
      const missing = (pattern: RegExp, folder: string) =>
        [...text.matchAll(pattern)].filter(([name]) => !existsSync(join(folder, name)))
      return [...missing(FROM_ROOT, root), ...missing(BESIDE, dirname(path))].map(({ 0: name, index }) => ({
        rule: 'named-files',
        where: `${file}:${text.slice(0, index).split('\n').length}`,
        what: `names ${name}, which does not exist.`
      }))
    })
}
