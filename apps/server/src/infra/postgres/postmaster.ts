import { readFile, realpath, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { type Account, runAs } from './account.ts'
import type { Binaries } from './binaries.ts'
import { type Cluster, superuser } from './cluster.ts'
import { commandOf, waitForExit, isPidInUse, startOf } from './processes.ts'

/** A server process as its lock file describes it. `status` is PostgreSQL's: starting, ready, stopping. */
export type Postmaster = {
  pid: number
  port: number
  status: string
}

const lockFile = (cluster: Cluster) => join(cluster.data, 'postmaster.pid')

/** The server process that runs on this cluster, if any, including servers that other processes started. */
export async function findPostmaster(cluster: Cluster): Promise<Postmaster | undefined> {
  const lines = (await readFile(lockFile(cluster), 'utf8').catch(() => '')).split('\n')
  const pid = Math.abs(Number(lines[0]))
  if (!pid || !(await isPostmaster(pid, cluster))) return undefined
  return { pid, port: Number(lines[3] ?? 0), status: (lines[7] ?? '').trim() }
}

/** After a crash, another program may have the process id of the lock file. */
async function isPostmaster(pid: number, cluster: Cluster): Promise<boolean> {
  if ((await startOf(pid)) === undefined) return false
  const command = await commandOf(pid)
  return command === undefined || command.includes(`-D ${cluster.data}`)
}

/**
 * Removes a lock file whose process id now belongs to another program, because PostgreSQL only checks whether the id is
 * taken. PostgreSQL itself replaces a file whose id is free.
 */
export async function removeStaleLock(cluster: Cluster): Promise<void> {
  const text = await readFile(lockFile(cluster), 'utf8').catch(() => '')
  const pid = Math.abs(Number(text.split('\n')[0]))
  if (!pid || !isPidInUse(pid) || (await isPostmaster(pid, cluster))) return
  if ((await readFile(lockFile(cluster), 'utf8').catch(() => '')) === text) await unlink(lockFile(cluster))
}

/** Does the server on that port accept this cluster's password and serve its data? */
export async function verify(cluster: Cluster, server: Postmaster): Promise<boolean> {
  const client = new Client({
    host: '127.0.0.1',
    port: server.port,
    user: superuser,
    password: cluster.password,
    database: 'postgres',
    connectionTimeoutMillis: 5000
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory')
    const served = rows[0]?.data_directory
    return served !== undefined && (await realpath(served)) === cluster.data
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Fast shutdown: open transactions are rolled back, and everything committed is on disk. */
export async function stopPostmaster(
  pid: number,
  cluster: Cluster,
  binaries: Binaries,
  account: Account
): Promise<void> {
  // SIGQUIT ends the server without a checkpoint; the next start then recovers from the write-ahead log.
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    if (!(await isPostmaster(pid, cluster))) return
    if (process.platform === 'win32') await runAs(account, binaries.pgCtl, ['kill', signal.slice(3), String(pid)])
    else process.kill(pid, signal)
    if (await waitForExit(pid, 30_000)) return
  }
  throw new Error(`PostgreSQL (process ${pid}) does not end. Its log: ${cluster.log}`)
}
