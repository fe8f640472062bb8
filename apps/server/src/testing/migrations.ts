import { readdirSync, readFileSync } from 'node:fs'

const folder = new URL('../../migrations/', import.meta.url)

/** The migrations' statements, in their order. `ending`: of the one whose file ends so alone. */
export function migrationStatements(ending = '.sql'): string[] {
  const files = readdirSync(folder).filter(name => name.endsWith(ending))
  if (files.length === 0) throw new Error(`no migration ends with ${ending}`)
  return files.toSorted().flatMap(name => readFileSync(new URL(name, folder), 'utf8').split('--> statement-breakpoint'))
}
