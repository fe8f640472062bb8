import { readFileSync } from 'node:fs'
import { sourcesIn } from './plain-words.ts'
import type { Violation } from './violation.ts'

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
