import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Violation } from './violation.ts'

const FOLDER = 'apps/server/migrations'
/** Before there was this rule. */
const LAST_FREE = '0102'

/** What the code of the version before may still use, or what locks a large table while it is read or rewritten. */
const CONTRACTS =
  /\bdrop\s+(?:table|column)\b|\brename\s+(?:to|column)\b|\bset\s+data\s+type\b|\bset\s+not\s+null\b|\badd\s+column\s+(?:(?!\bdefault\b)[^;])*\bnot\s+null\b(?![^;]*\bdefault\b)/i
const REASON = /^-- contracts: \S/m

/** Migrations after which processes of the version before would fail, and that do not say why this one may. */
export const migrationViolations = (root: string): Violation[] =>
  readdirSync(join(root, FOLDER))
    .filter(name => name.endsWith('.sql') && name.slice(0, 4) > LAST_FREE)
    .toSorted()
    .filter(name => {
      const text = readFileSync(join(root, FOLDER, name), 'utf8')
      return !REASON.test(text) && CONTRACTS.test(text.replaceAll(/--.*$/gm, ''))
    })
    .map(name => ({
      rule: 'migrations-expand',
      where: `${FOLDER}/${name}`,
      what: 'removes, renames or tightens what processes of the version before use. Do it one version later, and say in its first line why they no longer do: "-- contracts: …".'
    }))
