import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sourcesIn } from './plain-words.ts'
import { type Violation } from './violation.ts'

const SERVER = 'apps/server/src'
const DATABASE_CLOCK =
  /\.(?:defaultNow\(|default\(\s*sql`[^`]*\b(?:now\(|\w+_timestamp\b|timeofday\(|current_(?:date|time)\b|localtime))/gi

/** Columns with the database's time as default. Commands must set `unit.now` instead. */
export function columnDefaultViolations(root: string): Violation[] {
  return readdirSync(join(root, SERVER), { recursive: true, encoding: 'utf8' })
    .filter(name => /(?:tables|columns)\.ts$/.test(name))
    .toSorted()
    .flatMap(name => {
      const text = readFileSync(join(root, SERVER, name), 'utf8')
      return [...text.matchAll(DATABASE_CLOCK)].map(({ index }) => ({
        rule: 'no-database-clock',
        where: `${SERVER}/${name}:${text.slice(0, index).split('\n').length}`,
        what: "defaults to the database's clock: a command passes `unit.now`."
      }))
    })
}

/** Tables that `db:generate` does not find: the next generated migration would drop them. */
export const hiddenTableViolations = (root: string): Violation[] =>
  sourcesIn(root)
    .filter(({ file }) => file.startsWith(SERVER) && !/(?:\/tables|\.test|\.fixture)\.ts$/.test(file))
    .filter(({ path }) => /\bpgTable\(/.test(readFileSync(path, 'utf8')))
    .map(({ file }) => ({
      rule: 'tables-in-tables',
      where: file,
      what: 'declares a table. It belongs in a tables.ts.'
    }))
