import { spawn } from 'node:child_process'
import { type FileHandle, constants, open, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Account, childEnvironment, chooseAccount, safeFolder } from './account.ts'
import { type Binaries, findBinaries } from './binaries.ts'
import { type Cluster, openCluster, superuser } from './cluster.ts'
import { type Postmaster, findPostmaster, removeStaleLock, stopPostmaster, verify } from './postmaster.ts'
import { isPidInUse, startOf } from './processes.ts'
import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'

/** One process's claim on a database. The last live owner shuts the server down. */
type Owner = {
  /** Gives up the claim. @returns true if no other live owner is left */
  release(): Promise<boolean>
  /** The same without waiting, for the exit of the process. An owner counts as live while its process id is taken. */
  releaseNow(): boolean
}

/** Marks this process as an owner with a file in `folder`. Call it before looking for a running server. */
async function markOwner(folder: string): Promise<Owner> {
  const name = `${process.pid}-${randomBytes(6).toString('hex')}`
  const temporary = join(folder, `.${name}`)
  await writeFile(temporary, (await startOf(process.pid)) ?? '')
  await rename(temporary, join(folder, name))
  let released = false
  return {
    async release() {
      if (released) return false
      released = true
      await rm(join(folder, name), { force: true })
      return (await livingOwners(folder)) === 0
    },
    releaseNow() {
      if (released) return false
      released = true
      rmSync(join(folder, name), { force: true })
      return !readdirSync(folder).some(other => /^\d/.test(other) && isPidInUse(Number.parseInt(other, 10)))
    }
  }
}

/** Counts live owners and removes the marks of killed ones. */
async function livingOwners(folder: string): Promise<number> {
  let living = 0
  for (const name of await readdir(folder).catch(() => [])) {
    if (!/^\d/.test(name)) continue
    const start = await readFile(join(folder, name), 'utf8').catch(() => undefined)
    if (start !== undefined && (await startOf(Number.parseInt(name, 10))) === start) living++
    else await rm(join(folder, name), { force: true })
  }
  return living
}

export type EmbeddedPostgresOptions = {
  /** Folder of the database, created on the first start. Removing it removes all data. */
  dataDir: string
  /** Preferred TCP port on 127.0.0.1. If it is taken or missing, the system chooses one. */
  port?: number
  /** Additional server settings, such as `{ fsync: 'off' }`. They do not affect a running server. */
  settings?: Record<string, string>
  log: (line: string) => void
}

export type EmbeddedPostgres = {
  /** Connection string of the superuser for the database `postgres`. Contains the password. */
  url: string
  port: number
  pid: number
  /** Shuts the server down and waits for its end, unless another live process also uses it. */
  stop(): Promise<void>
}

const startDeadline = 120_000
const logLimit = 5_000_000

/**
 * Starts PostgreSQL on `dataDir`, or joins a running server that another process started or that outlived its killed
 * starter. The caller must `stop()` before it exits.
 * @throws with a one-line reason that says what to do
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir)
  const account = await chooseAccount(dataDir)
  const binaries = await findBinaries(account)
  const cluster = await openCluster(dataDir, binaries, account, {
    sync: options.settings?.['fsync'] !== 'off',
    log: options.log
  })
  const owner = await markOwner(cluster.owners)
  try {
    const server = await joinOrLaunch(cluster, binaries, account, options)
    const interruptOnExit = () => {
      if (owner.releaseNow()) process.kill(server.pid, 'SIGINT')
    }
    process.once('exit', interruptOnExit)
    return {
      url: `postgres://${superuser}:${cluster.password}@127.0.0.1:${server.port}/postgres`,
      port: server.port,
      pid: server.pid,
      async stop() {
        process.off('exit', interruptOnExit)
        if (await owner.release()) await stopPostmaster(server.pid, cluster, binaries, account)
      }
    }
  } catch (error) {
    await owner.release()
    throw error
  }
}

async function joinOrLaunch(
  cluster: Cluster,
  binaries: Binaries,
  account: Account,
  options: EmbeddedPostgresOptions
): Promise<Postmaster> {
  const deadline = performance.now() + startDeadline
  let port = options.port || (await freePort())
  while (performance.now() < deadline) {
    const running = await findPostmaster(cluster)
    if (running) {
      const ready = await whenReady(cluster, running.pid, deadline)
      if (typeof ready === 'object') {
        options.log(`PostgreSQL already serves ${options.dataDir} on port ${ready.port}; joining it`)
        return ready
      }
      continue
    }
    if (!(await portFree(port))) {
      options.log(`Port ${port} is taken; PostgreSQL gets another one`)
      port = await freePort()
    }
    await removeStaleLock(cluster)
    const launched = await launch(cluster, binaries, account, port, options.settings ?? {}, deadline)
    if (launched === 'superseded') continue
    if ('pid' in launched) return launched
    // Another start was first, the port was taken, or processes of a killed server still exit.
    const passing = /lock file|could not bind|could not create any TCP|pre-existing shared memory/.test(launched.reason)
    if (!passing) throw new Error(`PostgreSQL did not start: ${launched.reason} (log: ${cluster.log})`)
    await sleep(100)
  }
  throw new Error(`PostgreSQL was not ready after ${startDeadline / 1000} s. Its log: ${cluster.log}`)
}

/** @returns the server; `superseded` if another start's server now has the folder; or why it ended */
async function launch(
  cluster: Cluster,
  binaries: Binaries,
  account: Account,
  port: number,
  settings: Record<string, string>,
  deadline: number
): Promise<Postmaster | 'superseded' | { reason: string }> {
  const all = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    timezone: 'UTC',
    log_timezone: 'UTC',
    max_connections: '200',
    log_checkpoints: 'off',
    // Containers have 64 MB of shared memory, which parallel queries can exceed.
    dynamic_shared_memory_type: process.platform === 'win32' ? 'windows' : 'mmap',
    ...settings
  }
  const args = ['-D', cluster.data, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  const log = await openLog(cluster.log)
  const logStart = (await log.stat()).size
  let failure: string | undefined
  try {
    // Detached, so that Ctrl+C in the terminal reaches only the shop, which stops its database last.
    const child = spawn(binaries.postgres, args, {
      ...account,
      cwd: safeFolder(),
      env: childEnvironment(),
      detached: true,
      windowsHide: true,
      stdio: ['ignore', log.fd, log.fd]
    })
    child.once('error', error => (failure = error.message))
    child.unref()
    const ready = child.pid === undefined ? 'ended' : await whenReady(cluster, child.pid, deadline)
    if (typeof ready === 'object') return ready
    if (child.pid !== undefined && isPidInUse(child.pid) && child.exitCode === null && child.signalCode === null) {
      child.kill('SIGQUIT')
    }
    // Its log may not mention this, because it has not found the other server's lock file yet.
    if (ready === 'superseded') return ready
  } finally {
    await log.close()
  }
  const lines = (await readFile(cluster.log)).subarray(logStart).toString().trim().split('\n')
  return { reason: failure ?? lines.find(line => line.includes('FATAL')) ?? lines.at(-1) ?? 'it ended without a word' }
}

/** Without O_NOFOLLOW, root would write through a link that the account may put there. */
async function openLog(path: string): Promise<FileHandle> {
  const log = await open(
    path,
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0),
    0o600
  )
  if ((await log.stat()).size > logLimit) await log.truncate()
  return log
}

/** Waits until this process serves the cluster or has ended, or another one has the folder. */
async function whenReady(
  cluster: Cluster,
  pid: number,
  deadline: number
): Promise<Postmaster | 'superseded' | 'ended'> {
  while ((await startOf(pid)) !== undefined && performance.now() < deadline) {
    const found = await findPostmaster(cluster)
    if (found?.pid === pid && found.status === 'ready' && (await verify(cluster, found))) return found
    if (found && found.pid !== pid) return 'superseded'
    await sleep(20)
  }
  return 'ended'
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer()
    server.once('error', fail)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => done(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

function portFree(port: number): Promise<boolean> {
  return new Promise(done => {
    const server = createServer()
    server.once('error', () => done(false))
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)))
  })
}
