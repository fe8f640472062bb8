import {
  INCIDENT_STATES,
  type Incident,
  type IncidentEdit,
  type IncidentForm,
  type IncidentState,
  type IncidentUpdateForm,
  MAINTENANCE_STATES,
  type Refusal,
  isEnded,
  refuse
} from '@netlet/contract'
import { and, desc, eq, inArray, isNull, lte } from '../../infra/db/drizzle.ts'
import type { Actor } from '../../infra/actor.ts'
import { DAY, MINUTE } from '../../infra/clock.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { type Result, done } from '../../infra/result.ts'
import { staleEdit, type Edit } from '../../infra/version.ts'
import { type IncidentRow, fieldsOf, readIncident } from './present.ts'
import { readLocations } from './locations.ts'
import { statusMailsQueue } from './queues.ts'
import { incidentLocations, incidentOutages, incidentUpdates, incidents } from './tables.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lockOutage } from '../servers/index.ts'

type NamedIncident = { id: number; title: string }

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
    const named = await linkIncidentIn(unit, outageId, made.data.id)
    return named.ok ? readIncident(unit.tx, made.data.id, unit.now) : named
  })

/** Links an outage to its incident; null: to none. */
export const linkIncident = (
  ctx: AppContext,
  by: Actor,
  outageId: number,
  incidentId: number | null
): Promise<Result<null>> => command(ctx, by, unit => linkIncidentIn(unit, outageId, incidentId))

/** The same as a part of a larger write. Idempotent. */
export async function linkIncidentIn(unit: Unit, outageId: number, incidentId: number | null): Promise<Result<null>> {
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

/** The longest planned work. */
const MOST_DAYS = 90
const UNIQUE = { unique: { incidents_open_title_key: 'incident_exists' } } as const
const MAINTENANCE: readonly IncidentState[] = MAINTENANCE_STATES

/** Creates a public incident or planned work and mails the subscribers. */
export const createIncident = (ctx: AppContext, by: Actor, form: IncidentForm): Promise<Result<Incident>> =>
  command(ctx, by, UNIQUE, unit => createIncidentIn(unit, form))

/** The same as a part of a larger write. Its command maps the key `incidents_open_title_key`. */
async function createIncidentIn(unit: Unit, form: IncidentForm): Promise<Result<Incident>> {
  const { tx, now, by } = unit
  const state = form.state ?? (form.severity === 'maintenance' ? 'scheduled' : 'investigating')
  const times = timesOf(form, now)
  const wrong =
    refuseState(form.severity, state) ??
    refuseTimes(form.severity, times, now) ??
    // Past work may be recorded as completed, but not planned.
    (isEnded(state) ? undefined : wrongEnd(times, now))
  if (wrong) return wrong
  const [made] = await tx
    .insert(incidents)
    .values({
      title: form.title,
      severity: form.severity,
      state,
      ...times,
      resolvedAt: isEnded(state) ? now : null,
      createdBy: by.kind === 'user' ? (by.impersonator?.username ?? by.username) : 'system',
      createdAt: now
    })
    .returning()
  if (!made) throw new Error('the incident was not added')
  const unknown = await setLocations(unit, made.id, form.locations)
  if (unknown) return unknown
  await insertUpdate(unit, made.id, { state, text: form.text })
  const after = await readIncident(tx, made.id, now)
  if (after.ok) unit.audit('incident.create', made.id, { after: audited(after.data) })
  unit.publish('incident', made.id, 'everyone')
  return after
}

export const updateIncident = (
  ctx: AppContext,
  by: Actor,
  id: number,
  { version, ...form }: Edit<IncidentEdit>
): Promise<Result<Incident>> =>
  command(ctx, by, UNIQUE, async unit => {
    const { tx, now } = unit
    const row = await lockIncident(unit, id)
    if (!row) return refuse('not_found')
    const before = await readIncident(tx, id, now)
    if (!before.ok) return before
    const times = timesOf({ ...form, started_at: form.started_at ?? before.data.started_at }, now)
    const sent = {
      ...form,
      started_at: times.startedAt.toISOString(),
      ends_at: times.endsAt?.toISOString() ?? null,
      locations: form.locations.toSorted((a, b) => a - b)
    }
    const stale = staleEdit(version, before.data, { now: fieldsOf(before.data), sent })
    if (stale) return stale
    if ((form.severity === 'maintenance') !== (row.severity === 'maintenance')) return refuse('is_fixed')
    const isSameEnd = times.endsAt?.getTime() === row.endsAt?.getTime()
    const wrong =
      refuseTimes(form.severity, times, now) ?? (isSameEnd || isEnded(row.state) ? undefined : wrongEnd(times, now))
    if (wrong) return wrong
    await tx
      .update(incidents)
      .set({ title: form.title, severity: form.severity, ...times })
      .where(eq(incidents.id, id))
    const known = fieldsOf(before.data).locations
    if (JSON.stringify(known) !== JSON.stringify(sent.locations)) {
      const unknown = await setLocations(unit, id, form.locations)
      if (unknown) return unknown
    }
    const after = await readIncident(tx, id, now)
    if (after.ok) unit.audit('incident.edit', id, { before: audited(before.data), after: audited(after.data) })
    unit.publish('incident', id, 'everyone')
    return after
  })

export const deleteIncident = (ctx: AppContext, by: Actor, id: number): Promise<Result<null>> =>
  command(ctx, by, async unit => {
    if (!(await lockIncident(unit, id))) return refuse('not_found')
    const before = await readIncident(unit.tx, id, unit.now)
    await unit.tx.delete(incidents).where(eq(incidents.id, id))
    if (before.ok)
      unit.audit('incident.delete', id, {
        before: { ...audited(before.data), updates: before.data.updates.map(({ text }) => text) }
      })
    unit.publish('incident', id, 'everyone')
    return done
  })

/** Adds an update. One that equals the last is ignored, so a form that is sent twice mails once. */
export const addUpdate = (
  ctx: AppContext,
  by: Actor,
  id: number,
  form: IncidentUpdateForm
): Promise<Result<Incident>> =>
  command(ctx, by, UNIQUE, async unit => {
    const row = await lockIncident(unit, id)
    if (!row) return refuse('not_found')
    const wrong = refuseState(row.severity, form.state)
    if (wrong) return wrong
    const [last] = await unit.tx
      .select()
      .from(incidentUpdates)
      .where(eq(incidentUpdates.incidentId, id))
      .orderBy(desc(incidentUpdates.id))
      .limit(1)
    if (last?.state === form.state && last.text === form.text) return readIncident(unit.tx, id, unit.now)
    if (row.state === 'completed') return refuse('incident_ended')
    await setState(unit, row, form.state)
    await insertUpdate(unit, id, form)
    unit.audit('incident.update', id, { before: { state: row.state }, after: form })
    unit.publish('incident', id, 'everyone')
    return readIncident(unit.tx, id, unit.now)
  })

/** Corrects an update's text; `was` is the text when the form was opened. Sends no mail. */
export const correctUpdate = (
  ctx: AppContext,
  by: Actor,
  updateId: number,
  { text, was }: { text: string; was?: string | undefined }
): Promise<Result<Incident>> =>
  command(ctx, by, async unit => {
    const [row] = await unit.tx.select().from(incidentUpdates).where(eq(incidentUpdates.id, updateId)).for('update')
    if (!row) return refuse('not_found')
    if (was !== undefined && was !== row.text) return refuse('stale')
    await unit.tx.update(incidentUpdates).set({ text }).where(eq(incidentUpdates.id, updateId))
    unit.audit('incident.correct', row.incidentId, { before: { text: row.text }, after: { text } })
    unit.publish('incident', row.incidentId, 'everyone')
    return readIncident(unit.tx, row.incidentId, unit.now)
  })

async function lockIncident({ tx }: Unit, id: number): Promise<IncidentRow | undefined> {
  const [row] = await tx.select().from(incidents).where(eq(incidents.id, id)).for('update')
  return row
}

/** Sets a locked incident's state, which may end or reopen it. */
const setState = ({ tx, now }: Unit, { id, resolvedAt }: IncidentRow, state: IncidentState, endedAt = now) =>
  tx
    .update(incidents)
    .set({ state, resolvedAt: isEnded(state) ? (resolvedAt ?? endedAt) : null })
    .where(eq(incidents.id, id))

/** Adds an update and mails the subscribers. */
async function insertUpdate(
  unit: Unit,
  incidentId: number,
  { state, text, at = unit.now }: { state: IncidentState; text: string; at?: Date }
): Promise<void> {
  const [made] = await unit.tx.insert(incidentUpdates).values({ incidentId, state, text, at }).returning()
  if (!made) throw new Error('the update was not added')
  unit.jobs.send(statusMailsQueue, { updateId: made.id, after: 0 }, { key: `${made.id}:0` })
}

/** Sets the groups of these locations, with their current names. */
async function setLocations({ tx }: Unit, incidentId: number, ids: readonly number[]): Promise<Refusal | undefined> {
  const wanted = new Set(ids)
  const locations = (await readLocations(tx)).filter(({ id }) => wanted.has(id))
  if (locations.length < wanted.size) {
    // An incident may keep a location that is no longer sold.
    const kept = await tx.select().from(incidentLocations).where(eq(incidentLocations.incidentId, incidentId))
    const gone = kept.filter(({ groupId }) => wanted.has(groupId) && !locations.some(({ id }) => id === groupId))
    if (locations.length + gone.length < wanted.size) return refuse('choice_gone')
    locations.push(...gone.map(({ groupId, name }) => ({ id: groupId, name, translations: {}, groupIds: [groupId] })))
  }
  await tx.delete(incidentLocations).where(eq(incidentLocations.incidentId, incidentId))
  await tx
    .insert(incidentLocations)
    .values(locations.flatMap(({ name, groupIds }) => groupIds.map(groupId => ({ incidentId, groupId, name }))))
  return undefined
}

type Times = { startedAt: Date; endsAt: Date | null }

/** Only planned work has an end in advance. */
const timesOf = (form: Pick<IncidentEdit, 'severity' | 'started_at' | 'ends_at'>, now: Date): Times => ({
  startedAt: form.started_at === undefined ? now : new Date(form.started_at),
  endsAt: form.severity === 'maintenance' && form.ends_at !== undefined ? new Date(form.ends_at) : null
})

function refuseTimes(severity: IncidentEdit['severity'], { startedAt, endsAt }: Times, now: Date): Refusal | undefined {
  if (severity !== 'maintenance')
    // An operator's clock may be slightly ahead.
    return startedAt.getTime() > now.getTime() + MINUTE ? refuse('incident_in_future') : undefined
  const lasts = endsAt ? endsAt.getTime() - startedAt.getTime() : 0
  return lasts > 0 && lasts <= MOST_DAYS * DAY
    ? undefined
    : refuse('maintenance_times', { params: { days: MOST_DAYS } })
}

/** Planned work must end in the future, or it would be completed as soon as it is announced. */
const wrongEnd = ({ endsAt }: Times, now: Date): Refusal | undefined =>
  endsAt && endsAt <= now ? refuse('maintenance_times', { params: { days: MOST_DAYS } }) : undefined

function refuseState(severity: IncidentEdit['severity'], state: IncidentState): Refusal | undefined {
  const isPlanned = severity === 'maintenance'
  if (MAINTENANCE.includes(state) === isPlanned) return undefined
  const kind = INCIDENT_STATES.filter(one => MAINTENANCE.includes(one) === isPlanned).join(', ')
  return refuse('incident_state', { params: { kind } })
}

const audited = ({ title, severity, state, started_at, ends_at, locations }: Incident) => ({
  title,
  severity,
  state,
  started_at,
  ends_at,
  locations: locations.map(({ name }) => name)
})

/** Ends planned work whose time is over. Runs every minute. */
export const endMaintenance = (ctx: AppContext, by: Actor): Promise<number> =>
  command(ctx, by, async unit => {
    const { tx, now } = unit
    const over = await tx
      .select()
      .from(incidents)
      .where(and(isNull(incidents.resolvedAt), lte(incidents.endsAt, now)))
      .orderBy(incidents.id)
      .for('update', { skipLocked: true })
    for (const row of over) {
      const at = row.endsAt ?? now
      await setState(unit, row, 'completed', at)
      await insertUpdate(unit, row.id, { state: 'completed', text: '', at })
      unit.publish('incident', row.id, 'everyone')
    }
    return over.length
  })
