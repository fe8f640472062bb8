import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { AppContext } from '../infra/context.ts'

/** Runs a fixture in its own process, which works on a row of the shop's database until it is killed. */
export const workerProcess = ({ config }: Pick<AppContext, 'config'>, fixture: URL, id: number): ChildProcess =>
  spawn(process.execPath, [fileURLToPath(fixture), String(id)], {
    env: { ...process.env, NETLET_DEMO: '1', DATABASE_URL: config.databaseUrl, APP_SECRET: config.appSecret },
    stdio: ['ignore', 'ignore', 'inherit']
  })
