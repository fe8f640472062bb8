// Writes docs/API.md from the contract.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { apiMarkdown } from '../apps/server/src/api/markdown.ts'

const path = fileURLToPath(new URL('../docs/API.md', import.meta.url))
writeFileSync(path, apiMarkdown())
console.log(`Wrote ${path}`)
