import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../../../', import.meta.url))
const entry = join(root, 'apps/agent/src/main.ts')
const cache = join(root, 'node_modules/.cache/netlet')

export type Bundle = { code: Buffer; sha256: string; version: string }

/**
 * The whole agent as one JavaScript file. Built again when a source or a package has changed, cached otherwise.
 * @throws Error if the sources or the bundler are missing
 */
export async function bundleAgent(): Promise<Bundle> {
  const hash = await hashSources()
  const version = await versionOf(hash)
  const file = join(cache, `agent-${hash}.mjs`)
  const code = (await readFile(file).catch(() => undefined)) ?? (await build(file))
  return { code, sha256: createHash('sha256').update(code).digest('hex'), version }
}

/** The version that an agent reports once this console has installed it. Equal versions are the same program. */
export const agentVersion = async (): Promise<string> => versionOf(await hashSources())

async function versionOf(hash: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(root, 'apps/agent/package.json'), 'utf8')) as { version: string }
  return `${version}+${hash.slice(0, 8)}`
}

async function build(file: string): Promise<Buffer> {
  // Imported only here, so that a console that installs no servers needs no bundler.
  const { rolldown } = await import('rolldown')
  const bundle = await rolldown({ input: entry, platform: 'node', logLevel: 'silent' })
  try {
    const { output } = await bundle.generate({ format: 'esm', codeSplitting: false })
    const code = Buffer.from(output[0].code)
    await mkdir(cache, { recursive: true })
    const fresh = `${file}.${process.pid}`
    await writeFile(fresh, code)
    await rename(fresh, file)
    await removeOthers(file)
    return code
  } finally {
    await bundle.close()
  }
}

/** Deletes builds of older sources. */
async function removeOthers(file: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const other = join(cache, name)
    if (/^agent-[0-9a-f]+\.mjs$/.test(name) && other !== file) await rm(other, { force: true })
  }
}

async function hashSources(): Promise<string> {
  const hash = createHash('sha256')
  for (const folder of ['apps/agent/src', 'packages/contract/src']) {
    const names = await readdir(join(root, folder), { recursive: true })
    for (const name of names.filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts')).toSorted()) {
      hash.update(`${folder}/${name}\0`).update(await readFile(join(root, folder, name)))
    }
  }
  hash.update(await readFile(join(root, 'package-lock.json')))
  return hash.digest('hex').slice(0, 32)
}
