import { routes, type SyncKind, type SyncPlan, type SyncRun } from '@netlet/contract'
import { expect } from 'vitest'
import type { AppContext } from '../../infra/context.ts'
import type { Catalogue } from './calls.fixture.ts'
import { findRun, presentRun } from './sync-runs/list-runs.ts'

const { catalog } = routes
const admin = 'admin' as const

export async function runOf(ctx: AppContext, id: number): Promise<SyncRun> {
  const run = await findRun(ctx.db, id)
  if (!run) throw new Error(`there is no sync ${id}`)
  return presentRun(run)
}

/** A sync after its jobs, when it waits for an administrator or has ended. */
async function rested(app: Catalogue, id: number): Promise<SyncRun> {
  await app.drain()
  const run = await runOf(app.ctx, id)
  expect(run.state).not.toMatch(/^(reading|applying)$/)
  return run
}

type PlanOf<W extends SyncKind> = Extract<SyncPlan, { what: W extends 'catalogue' ? W : 'collections' | 'tags' }>

/** An administrator's actions on syncs, as in the console. */
export const syncsOf = (app: Catalogue) => ({
  async start(what: SyncKind): Promise<SyncRun> {
    const reply = await app.call(catalog.startSync, { as: admin, body: { what } })
    if (reply.code !== 2000) throw new Error(reply.msg)
    return rested(app, reply.data.id)
  },
  /** Reads the platform. @returns the sync and its plan */
  async plan<W extends SyncKind>(what: W): Promise<PlanOf<W> & { id: number }> {
    const run = await this.start(what)
    if (run.state !== 'ready') throw new Error(run.msg ?? run.state)
    const { data } = await app.call(catalog.syncPlan, { as: admin, params: { id: run.id } })
    return { ...(data as PlanOf<W>), id: run.id }
  },
  async apply(id: number): Promise<SyncRun> {
    const reply = await app.call(catalog.applySync, { as: admin, params: { id } })
    if (reply.code !== 2000) throw new Error(reply.msg)
    return rested(app, id)
  }
})
