import {
  MAX_NOTICE_CHANNELS,
  NOTICE_SEVERITIES,
  refuse,
  type NoticeChannel,
  type NoticeChannelForm,
  type Refusal
} from '@netlet/contract'
import { eq, ilike, sql } from '../../infra/db/drizzle.ts'
import type { Actor } from '../../infra/actor.ts'
import { isoOrNull, iso } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { containing } from '../../infra/db/like.ts'
import { lock } from '../../infra/db/locks.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import { equalInConstantTime } from '../../infra/secrets.ts'
import { staleEdit, versionOf, type Edit } from '../../infra/version.ts'
import { forbiddenTarget } from '../../integrations/public-http/index.ts'
import { readPolicy, type NoticePorts, type Operator } from './rules.ts'
import { noticeChannels, noticeSends, type ChannelRow } from './tables.ts'
import { enqueueSend } from './notifier.ts'

type Ports = Pick<NoticePorts, 'operators' | 'ownsAddresses'>

export const channelList = (ports: Ports) =>
  defineList<ListInput<'id'>, NoticeChannel>({
    name: 'notice_channels',
    table: noticeChannels,
    id: noticeChannels.id,
    sort: { id: noticeChannels.id },
    match: (_db, { search }) => ({
      where: [search === undefined ? undefined : ilike(noticeChannels.name, containing(search))]
    }),
    load: async (db, ids) =>
      presentAll(db, ports, await db.select().from(noticeChannels).where(among(noticeChannels.id, ids)))
  })

async function presentAll(db: Executor, { operators }: Ports, rows: readonly ChannelRow[]): Promise<NoticeChannel[]> {
  const ids = [...new Set(rows.flatMap(({ userIds }) => userIds))]
  const people = ids.length === 0 ? [] : await operators(db, ids)
  return rows.map(row => present(row, people))
}

function present(row: ChannelRow, people: readonly Operator[]): NoticeChannel {
  const named = people.filter(({ id }) => row.userIds.includes(id)).map(({ id, username }) => ({ id, name: username }))
  const fields = fieldsOf(row)
  return {
    id: row.id,
    ...fields,
    user_ids: named,
    host: row.host,
    last_sent_at: isoOrNull(row.lastSentAt),
    failing_since: isoOrNull(row.failingSince),
    failure: row.failure,
    created_at: iso(row.createdAt),
    version: versionOf({ ...fields, host: row.host, target: sealed(row.target), secret: sealed(row.secret) })
  }
}

/** Changes with each new value and reveals nothing: sealing the same text gives other bytes each time. */
const sealed = (bytes: Buffer | null): string | null => bytes && bytes.toString('base64')

const fieldsOf = (row: ChannelRow) => ({
  name: row.name,
  kind: row.kind,
  language: row.language,
  user_ids: row.userIds,
  tell_critical: row.severities.includes('critical'),
  tell_warning: row.severities.includes('warning'),
  tell_info: row.severities.includes('info'),
  digest: row.digest,
  enabled: row.enabled
})

/** For the audit log, without the address: a chat's address contains its secret. */
const logged = (row: ChannelRow) => ({ ...fieldsOf(row), host: row.host })

export async function createChannel(
  ctx: AppContext,
  by: Actor,
  ports: Ports,
  form: NoticeChannelForm
): Promise<Result<NoticeChannel>> {
  const wrong = whyWrong(ctx, ports, form, true)
  if (wrong) return wrong
  return command(ctx, by, async unit => {
    const { tx, now } = unit
    await lock(tx, 'notices')
    if ((await tx.$count(noticeChannels)) >= MAX_NOTICE_CHANNELS)
      return refuse('too_many_kept', { params: { max: MAX_NOTICE_CHANNELS } })
    const unknown = await unknownPeople(unit, ports, form)
    if (unknown) return unknown
    const [row] = await tx
      .insert(noticeChannels)
      .values({ ...valuesOf(ctx, form), kind: form.kind, createdAt: now, digestUntil: now })
      .returning()
    if (!row) throw new Error('the channel was not added')
    unit.audit('notice_channel.create', row.id, { after: logged(row) })
    const [shown] = await presentAll(tx, ports, [row])
    if (!shown) throw new Error('the channel is not shown')
    return ok(shown)
  })
}

/** Edits a channel. Its kind is fixed; an empty address or secret keeps the current one. */
export async function updateChannel(
  ctx: AppContext,
  by: Actor,
  ports: Ports,
  { id, form: { version, ...form } }: { id: number; form: Edit<NoticeChannelForm> }
): Promise<Result<NoticeChannel>> {
  return command(ctx, by, async unit => {
    const { tx } = unit
    const [row] = await tx.select().from(noticeChannels).where(eq(noticeChannels.id, id)).for('update')
    if (!row) return refuse('not_found')
    const [current] = await presentAll(tx, ports, [row])
    const stale = current && staleEdit(version, current, { now: fieldsOf(row), sent: form })
    if (stale) return stale
    const same = { ...form, kind: row.kind }
    const wrong = whyWrong(ctx, ports, same, false) ?? (await unknownPeople(unit, ports, same))
    if (wrong) return wrong
    const { target, host, secret, ...others } = valuesOf(ctx, same)
    const newTarget = target !== null && !holds(ctx, row.target, same.target)
    const newSecret = secret !== null && !holds(ctx, row.secret, same.secret)
    const [changed] = await tx
      .update(noticeChannels)
      .set({ ...others, ...(newTarget ? { target, host } : {}), ...(newSecret ? { secret } : {}) })
      .where(eq(noticeChannels.id, id))
      .returning()
    if (!changed) return refuse('not_found')
    const replaced = { ...(newTarget ? { new_target: true } : {}), ...(newSecret ? { has_new_secret: true } : {}) }
    unit.audit('notice_channel.edit', id, { before: logged(row), after: { ...logged(changed), ...replaced } })
    const [shown] = await presentAll(tx, ports, [changed])
    return shown ? ok(shown) : refuse('not_found')
  })
}

export const deleteChannel = (ctx: AppContext, by: Actor, id: number): Promise<Result<null>> =>
  command(ctx, by, async unit => {
    await lock(unit.tx, 'notices')
    const [row] = await unit.tx.delete(noticeChannels).where(eq(noticeChannels.id, id)).returning()
    if (!row) return refuse('not_found')
    unit.audit('notice_channel.delete', id, { before: logged(row) })
    return done
  })

/** Sends a test message once. Read its result by its id. */
export const testChannel = (ctx: AppContext, by: Actor, channelId: number): Promise<Result<{ send_id: number }>> =>
  command(ctx, by, async unit => {
    const { tx, now } = unit
    const [row] = await tx.select().from(noticeChannels).where(eq(noticeChannels.id, channelId)).for('key share')
    if (!row) return refuse('not_found')
    const [send] = await tx
      .insert(noticeSends)
      .values({ channelId, key: sql`'test:' || gen_random_uuid()`, telling: 'test', dueAt: now, createdAt: now })
      .returning({ id: noticeSends.id })
    if (!send) throw new Error('the test was not added')
    enqueueSend(unit, send.id, 0)
    unit.audit('notice_channel.test', channelId)
    return ok({ send_id: send.id })
  })

const valuesOf = ({ secrets }: AppContext, form: NoticeChannelForm) => {
  const posts = form.kind !== 'mail' && form.target !== ''
  return {
    name: form.name,
    language: form.language,
    userIds: form.kind === 'mail' ? form.user_ids : [],
    severities: NOTICE_SEVERITIES.filter(severity => form[`tell_${severity}`]),
    digest: form.digest,
    enabled: form.enabled,
    secret: form.kind === 'webhook' && form.secret !== '' ? secrets.seal(form.secret) : null,
    target: posts ? secrets.seal(form.target) : null,
    host: posts ? new URL(form.target).host : null
  }
}

/** Is this the sealed value? A value that can no longer be opened equals none. */
function holds({ secrets }: AppContext, bytes: Buffer | null, value: string): boolean {
  try {
    return bytes !== null && equalInConstantTime(secrets.open(bytes), value)
  } catch {
    return false
  }
}

/** Refuses an address that could never be sent to. Each attempt checks where its name resolves. */
function whyWrong(
  ctx: AppContext,
  ports: Ports,
  { kind, target, secret }: Pick<NoticeChannelForm, 'kind' | 'target' | 'secret'>,
  isNew: boolean
): Refusal | undefined {
  if (kind === 'mail') return undefined
  if (isNew && target === '') return fieldRefusal('target', 'needed')
  if (isNew && kind === 'webhook' && secret === '') return fieldRefusal('secret', 'needed')
  if (target === '') return undefined
  return forbiddenTarget(new URL(target), readPolicy(ctx, ports)) ? fieldRefusal('target', 'notice_target') : undefined
}

/** Only operators get notices, because they name servers, orders and payments. */
async function unknownPeople(
  { tx }: Unit,
  { operators }: Ports,
  { kind, user_ids: ids }: Pick<NoticeChannelForm, 'kind' | 'user_ids'>
): Promise<Refusal | undefined> {
  if (kind !== 'mail' || ids.length === 0) return undefined
  const known = await operators(tx, ids)
  return known.length === ids.length ? undefined : fieldRefusal('user_ids', 'notice_recipients')
}
