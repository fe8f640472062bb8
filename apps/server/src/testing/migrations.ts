import { readdirSync, readFileSync } from 'node:fs'

const folder = new URL('../../migrations/', import.meta.url)

/** The migrations' statements in order. `ending`: only of files that end with it. */
export function migrationStatements(ending = '.sql'): string[] {
  const files = readdirSync(folder).filter(name => name.endsWith(ending))
  if (files.length === 0) throw new Error(`no migration ends with ${ending}`)
  return files.toSorted().flatMap(name => readFileSync(new URL(name, folder), 'utf8').split('--> statement-breakpoint'))
}
