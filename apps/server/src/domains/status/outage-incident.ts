import { refuse, type Incident, type IncidentForm } from '@netlet/contract'
import { eq, inArray } from 'drizzle-orm'
import type { Actor } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { done, type Result } from '../../infra/result.ts'
import { lockOutage } from '../fleet/index.ts'
import { createIncidentIn, lockIncident } from './incidents.ts'
import { readIncident } from './list-incidents.ts'
import { incidentOutages, incidents } from './tables.ts'

export type NamedIncident = { id: number; title: string }

/** The incidents of outages, by outage. */
export async function incidentsOfOutages(
  db: Executor,
  outageIds: readonly number[]
): Promise<ReadonlyMap<number, NamedIncident>> {
  if (outageIds.length === 0) return new Map()
  const rows = await db
    .select({ outageId: incidentOutages.outageId, id: incidents.id, title: incidents.title })
    .from(incidentOutages)
    .innerJoin(incidents, eq(incidents.id, incidentOutages.incidentId))
    .where(inArray(incidentOutages.outageId, [...outageIds]))
  return new Map(rows.map(({ outageId, ...incident }) => [outageId, incident]))
}

/** Creates an incident for a detected outage. Refused if the outage already has one. */
export const createIncidentOfOutage = (
  ctx: AppContext,
  by: Actor,
  outageId: number,
  form: IncidentForm
): Promise<Result<Incident>> =>
  command(ctx, by, { unique: { incidents_open_title_key: 'incident_exists' } }, async unit => {
    if (!(await lockOutage(unit, outageId, 'update'))) return refuse('not_found')
    const known = (await incidentsOfOutages(unit.tx, [outageId])).get(outageId)
    if (known) return refuse('outage_has_incident', { params: { title: known.title } })
    const made = await createIncidentIn(unit, form)
    if (!made.ok) return made
    const named = await nameIncidentIn(unit, outageId, made.data.id)
    return named.ok ? readIncident(unit.tx, made.data.id, unit.now) : named
  })

/** Links an outage to its incident; null: to none. */
export const nameIncident = (
  ctx: AppContext,
  by: Actor,
  outageId: number,
  incidentId: number | null
): Promise<Result<null>> => command(ctx, by, unit => nameIncidentIn(unit, outageId, incidentId))

/** The same as a part of a larger write. Idempotent. */
export async function nameIncidentIn(unit: Unit, outageId: number, incidentId: number | null): Promise<Result<null>> {
  const { tx } = unit
  const outage = await lockOutage(unit, outageId, 'update')
  if (!outage) return refuse('not_found')
  const before = (await incidentsOfOutages(tx, [outageId])).get(outageId)
  if ((before?.id ?? null) === incidentId) return done
  if (incidentId === null) await tx.delete(incidentOutages).where(eq(incidentOutages.outageId, outageId))
  else {
    if (!(await lockIncident(unit, incidentId))) return refuse('choice_gone')
    await tx
      .insert(incidentOutages)
      .values({ outageId, incidentId })
      .onConflictDoUpdate({ target: incidentOutages.outageId, set: { incidentId } })
  }
  unit.audit('server.name_incident', outage.serverId, {
    before: { outage: outageId, incident: before?.id ?? null },
    after: { outage: outageId, incident: incidentId }
  })
  return done
}
