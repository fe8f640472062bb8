import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { AppContext } from '../infra/context.ts'

/** Runs a fixture as a process of its own that works on a row of the shop's database, to be killed in the middle of it. */
export const workerProcess = ({ config }: Pick<AppContext, 'config'>, fixture: URL, id: number): ChildProcess =>
  spawn(process.execPath, [fileURLToPath(fixture), String(id)], {
    env: { ...process.env, NETLET_DEMO: '1', DATABASE_URL: config.databaseUrl, APP_SECRET: config.appSecret },
    stdio: ['ignore', 'ignore', 'inherit']
  })
