// Checks the code against the rules of docs/ARCHITECTURE.md: imports between folders, writers of each table, default
// clocks of columns, migrations, files that are named by path, texts of other services, the length of commit subjects, and the words of comments.
import { fileURLToPath } from 'node:url'
import { columnDefaultViolations, hiddenTableViolations } from './column-defaults.ts'
import { plainWordViolations } from './plain-words.ts'
import { unboundedTextViolations } from './unbounded-texts.ts'
import { commitViolations } from './commits.ts'
import { importViolations, readImports } from './imports.ts'
import { migrationViolations } from './migrations.ts'
import { namedFileViolations } from './named-files.ts'
import { tableWriteViolations } from './table-writes.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const violations = [
  ...importViolations(await readImports(root)),
  ...tableWriteViolations(root),
  ...columnDefaultViolations(root),
  ...hiddenTableViolations(root),
  ...migrationViolations(root),
  ...namedFileViolations(root),
  ...unboundedTextViolations(root),
  ...commitViolations(root),
  ...plainWordViolations(root)
]
for (const { rule, where, what } of violations) console.error(`${where} ${what} (${rule})`)
console.log(
  violations.length === 0 ? 'Every import, write and default keeps the rules.' : `${violations.length} violations`
)
process.exitCode = violations.length === 0 ? 0 : 1
