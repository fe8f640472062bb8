import { randomBytes } from 'node:crypto'
import { chmod, chown, lstat, mkdir, mkdtemp, readFile, readdir, realpath, rename, rm } from 'node:fs/promises'
import { rmdir, symlink, unlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type Account, canEnter, runAs } from './account.ts'
import type { Binaries } from './binaries.ts'
import { isPidInUse } from './processes.ts'

/** The superuser, who owns everything in the embedded database. */
export const superuser = 'netlet'

/**
 * Files of one embedded database. `folder` is no symbolic link, and private to the account. PostgreSQL's own folder
 * `data`, the password, the log and the owners' marks are in it.
 */
export type Cluster = {
  folder: string
  data: string
  log: string
  owners: string
  password: string
}

/**
 * Opens the database folder at `dataDir`, or creates it on the first start. Several processes may do so at once: each
 * prepares its own folder, and one renames it into place. So a killed process leaves no partial folder there.
 * @throws if the folder has another PostgreSQL version or other content, or cannot be made or entered
 */
export async function openCluster(
  dataDir: string,
  binaries: Binaries,
  account: Account,
  options: { sync: boolean; log: (line: string) => void }
): Promise<Cluster> {
  await mkdir(dirname(dataDir), { recursive: true })
  await removeAbandoned(dataDir)
  if (!(await exists(dataDir))) {
    options.log(`Making a new database in ${dataDir}`)
    await create(dataDir, binaries, account, options.sync)
  }
  const folder = await realpath(dataDir)
  const data = join(folder, 'data')
  if (!(await canEnter(account, data))) {
    throw new Error(
      `The account that runs the database cannot reach ${folder}. ` +
        'Open the folders above it for passing through (chmod o+x), or set DATA_DIR to another place.'
    )
  }
  const version = (await readFile(join(data, 'PG_VERSION'), 'utf8').catch(readable(folder))).trim()
  if (version !== String(binaries.major)) {
    throw new Error(
      `The database in ${dataDir} was made by PostgreSQL ${version}; this is ${binaries.major}. ` +
        `Set DATABASE_URL to a PostgreSQL ${version} server that serves it, or set DATA_DIR to another place.`
    )
  }
  const password = (await readFile(join(folder, 'password'), 'utf8').catch(readable(folder))).trim()
  return { folder, data, log: join(folder, 'postgres.log'), owners: join(folder, 'owners'), password }
}

const readable = (folder: string) => (): never => {
  throw new Error(`The database in ${folder} belongs to another user or is damaged. Set DATA_DIR to another place.`)
}

async function exists(dataDir: string): Promise<boolean> {
  const link = await lstat(dataDir).catch(() => undefined)
  if (!link) return false
  const names = await readdir(dataDir).catch((error: NodeJS.ErrnoException) => error.code)
  // A link to nowhere or an empty folder: replacing it loses nothing.
  if (link.isSymbolicLink() && names === 'ENOENT') return false
  if (Array.isArray(names) && names.length === 0) return false
  if (Array.isArray(names) && !names.includes('data')) {
    throw new Error(`${dataDir} holds something else than a database. Move it away, or set DATA_DIR to another place.`)
  }
  if (names === 'ENOTDIR') throw new Error(`${dataDir} is a file; a folder for the database is wanted there.`)
  return true
}

async function create(dataDir: string, binaries: Binaries, account: Account, sync: boolean): Promise<void> {
  const near = await canEnter(account, dirname(dataDir))
  const parent = near ? dirname(dataDir) : await makePrivateFolder(account)
  const folder = await mkdtemp(join(parent, `${basename(dataDir)}.new-${process.pid}-`))
  try {
    await initialise(folder, binaries, account, sync)
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    const reason = (error as { stderr?: string }).stderr?.trim() || (error as Error).message
    throw new Error(`The embedded database could not be made in ${folder}: ${reason.split('\n').at(-1)}`, {
      cause: error
    })
  }
  // A rename puts the folder in place. If the account cannot reach that place, a link points to the folder instead.
  const stays = near ? folder : join(parent, `${basename(dataDir)}-${randomBytes(8).toString('hex')}`)
  if (!near) await rename(folder, stays)
  await removeEmptyFolder(dataDir)
  await (near ? rename(folder, dataDir) : symlink(stays, dataDir)).catch(async (error: NodeJS.ErrnoException) => {
    await rm(stays, { recursive: true, force: true })
    if (!['EEXIST', 'ENOTEMPTY', 'ENOTDIR', 'EPERM'].includes(error.code ?? '') || !(await exists(dataDir))) throw error
  })
}

/** Removes an empty folder or a link to nowhere, but nothing that another process put in place in the meantime. */
async function removeEmptyFolder(dataDir: string): Promise<void> {
  const link = await lstat(dataDir).catch(() => undefined)
  if (!link || (await exists(dataDir))) return
  await (link.isSymbolicLink() ? unlink(dataDir) : rmdir(dataDir)).catch(() => undefined)
}

async function initialise(folder: string, binaries: Binaries, account: Account, sync: boolean): Promise<void> {
  const passwordFile = join(folder, 'password')
  await writeFile(passwordFile, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 })
  await mkdir(join(folder, 'owners'), { mode: 0o700 })
  await chmod(folder, 0o700)
  if (account) {
    for (const path of [folder, passwordFile, join(folder, 'owners')]) await chown(path, account.uid, account.gid)
  }
  await runAs(account, binaries.initdb, [
    `--pgdata=${join(folder, 'data')}`,
    `--username=${superuser}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // Sorts text the same on every machine, independent of its locales.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
    ...(sync ? [] : ['--no-sync'])
  ])
}

/** A folder that survives a reboot. The account can enter it, but not list it. */
async function makePrivateFolder(account: Account): Promise<string> {
  for (const base of ['/var/lib', '/var/tmp']) {
    const place = join(base, 'netlet')
    await mkdir(place, { mode: 0o711 }).catch(() => undefined)
    const info = await lstat(place).catch(() => undefined)
    // Anyone can write to /var/tmp, so another user may have created the folder.
    if (!info?.isDirectory() || info.uid !== process.getuid?.()) continue
    await chmod(place, 0o711)
    if (await canEnter(account, place)) return place
  }
  throw new Error('No folder for the database can be reached by the account that runs it. Set DATABASE_URL.')
}

/** Removes unfinished folders of killed starts. */
async function removeAbandoned(dataDir: string): Promise<void> {
  const prefix = `${basename(dataDir)}.new-`
  for (const parent of [dirname(dataDir), '/var/lib/netlet', '/var/tmp/netlet']) {
    for (const name of await readdir(parent).catch(() => [])) {
      const pid = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : NaN
      if (Number.isNaN(pid) || isPidInUse(pid)) continue
      await rm(join(parent, name), { recursive: true, force: true }).catch(() => undefined)
    }
  }
}
