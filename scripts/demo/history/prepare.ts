import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import type { Config } from '../../../apps/server/src/infra/config.ts'
import type { DemoSettings } from '../settings.ts'
import { makeHistory } from './make.ts'

/** Subfolders of the data folder with the states of the stand-in platform and agent. */
const STATES = ['sandbox', 'agent']

/**
 * Gives a new shop its history. It is made in a separate database and folder, which replace the shop's at the end, so
 * that an interrupted start leaves nothing and the next one begins again. A shop that is already in use keeps its
 * database.
 * @param config its database server must allow creating databases
 * @returns whether the shop has its history now
 */
export async function prepareHistory({
  config,
  settings,
  end
}: {
  config: Config
  settings: DemoSettings
  end?: Date
}): Promise<boolean> {
  const shop = nameOf(config.databaseUrl)
  const made = `${shop}_history`
  const before = `${shop}_before`
  const stateDir = join(settings.dataDir, 'history')
  const states = statesOf(settings.dataDir, stateDir)
  if (await isUsed(config.databaseUrl)) {
    await states.forget()
    return false
  }
  // From a start that ended between moving the states and the database.
  await states.takeBack()
  await states.forget()
  const server = new Client({ connectionString: withName(config.databaseUrl, 'template1') })
  await server.connect()
  try {
    const name = (of: string) => server.escapeIdentifier(of)
    for (const left of [made, before]) await server.query(`drop database if exists ${name(left)} with (force)`)
    await server.query(`create database ${name(made)} template template0`)
    // An interrupted history is discarded, so nothing must be durable before it is complete.
    await server.query(`alter database ${name(made)} set synchronous_commit = off`)
    const databaseUrl = withName(config.databaseUrl, made)
    await makeHistory({
      config: { ...config, databaseUrl, sessionUrl: databaseUrl },
      settings,
      stateDir,
      ...(end ? { end } : {})
    })
    await server.query(`alter database ${name(made)} reset synchronous_commit`)
    await server.query('begin')
    await server.query(`alter database ${name(shop)} rename to ${name(before)}`)
    await server.query(`alter database ${name(made)} rename to ${name(shop)}`)
    try {
      await states.move()
      await server.query('commit')
    } catch (error) {
      await states.takeBack()
      throw error
    }
    await states.forget()
    await server.query(`drop database ${name(before)} with (force)`)
    return true
  } finally {
    await server.end()
  }
}

/** The stand-ins' states: the history's in `stateDir`, the shop's in the data folder. */
function statesOf(dataDir: string, stateDir: string) {
  const kept = join(stateDir, 'before')
  return {
    /** Moves the history's states into place and keeps the shop's until the swap is complete. */
    async move(): Promise<void> {
      await mkdir(kept, { recursive: true })
      for (const state of STATES) {
        const place = join(dataDir, state)
        if (existsSync(place)) await rename(place, join(kept, state))
        await rename(join(stateDir, state), place)
      }
    },
    /** Restores the shop's states, wherever the move was interrupted. */
    async takeBack(): Promise<void> {
      if (!existsSync(kept)) return
      for (const state of STATES) {
        const place = join(dataDir, state)
        // Not moved yet.
        if (existsSync(join(stateDir, state)) && !existsSync(join(kept, state))) continue
        await rm(place, { recursive: true, force: true })
        if (existsSync(join(kept, state))) await rename(join(kept, state), place)
      }
    },
    forget: () => rm(stateDir, { recursive: true, force: true })
  }
}

/** Signs that a shop is in use. The demo itself creates two accounts, and nothing has logged in to them. */
const TRACES = {
  logins: 'exists (select from logins)',
  users: '(select count(*) > 2 from users)',
  orders: 'exists (select from orders)',
  tickets: 'exists (select from tickets)'
}

/** Was this database used beyond starting the shop? */
async function isUsed(databaseUrl: string): Promise<boolean> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    for (const [table, trace] of Object.entries(TRACES)) {
      const { rows: known } = await client.query<{ known: boolean }>('select to_regclass($1) is not null as known', [
        `public.${table}`
      ])
      if (!known[0]?.known) continue
      const { rows } = await client.query<{ found: boolean }>(`select ${trace} as found`)
      if (rows[0]?.found) return true
    }
    return false
  } finally {
    await client.end()
  }
}

const nameOf = (databaseUrl: string): string => decodeURIComponent(new URL(databaseUrl).pathname.slice(1))

function withName(databaseUrl: string, name: string): string {
  const url = new URL(databaseUrl)
  url.pathname = `/${encodeURIComponent(name)}`
  return url.href
}
