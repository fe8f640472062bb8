// Builds the web app if its sources have changed since the last build.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const web = join(root, 'apps/web')
const dist = join(web, 'dist')
const stamp = join(dist, '.sources')

async function buildWeb(): Promise<void> {
  const wanted = await hashOfSources()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  // Load vite only if needed: it takes most of a second.
  const { build } = await import('vite')
  await build({ root: web, logLevel: 'warn' })
  writeFileSync(stamp, wanted)
}

async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')))
  for (const folder of [web, join(root, 'packages/contract')]) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    const files = entries
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name))
      .filter(file => !file.startsWith(dist) && !file.includes('node_modules'))
    for (const file of files.toSorted()) hash.update(file.slice(root.length)).update(readFileSync(file))
  }
  return hash.digest('hex')
}

await buildWeb()
