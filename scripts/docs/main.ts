// Writes the generated parts of the documents (documents.ts).
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { documents } from './documents.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
for (const { path, text } of await documents(root)) {
  writeFileSync(join(root, path), text)
  console.log(`Wrote ${path}`)
}
