import { Readable } from 'node:stream'
import { refuse } from '@netlet/contract'
import { asc, eq } from '../../infra/db/drizzle.ts'
import type { UserActor } from '../../infra/actor.ts'
import { iso, isoOrNull, MINUTE } from '../../infra/clock.ts'
import type { AppContext } from '../../infra/context.ts'
import { ok, type Result } from '../../infra/result.ts'
import { exportMails, readChoices } from '../mail/index.ts'
import { listApiKeys } from './api-keys.ts'
import { beginAttempt } from './attempts.ts'
import { exportLogins } from './logins.ts'
import { listSessions } from './own-sessions.ts'
import { exportSecondFactors } from './second-factor/manage.ts'
import type { AccountPorts, DataExport } from './ports.ts'
import { type UserRow, recipientOf, userColumns } from './present-user.ts'
import { userPreferences, users } from './tables.ts'

/** Downloads in 15 minutes: each reads all of the user's data. */
const MAX_DOWNLOADS = 3

/** All that the shop knows about the caller as one JSON object, streamed. */
export async function exportOwnData(
  ctx: AppContext,
  by: UserActor,
  { exports }: Pick<AccountPorts, 'exports'>
): Promise<Result<Readable>> {
  const key = `export:${by.id}`
  const attempt = await beginAttempt(ctx, by, [key])
  if ((attempt.counts.get(key) ?? 0) > MAX_DOWNLOADS) {
    await attempt.discard()
    return refuse('too_many', { data: { retry_after: (15 * MINUTE) / 1000 } })
  }
  const [user] = await ctx.db.select(userColumns).from(users).where(eq(users.id, by.id))
  if (!user) return refuse('unauthorized')
  return ok(Readable.from(textOf(ctx, by, user, exports)))
}

async function* textOf(
  ctx: AppContext,
  by: UserActor,
  user: UserRow,
  exports: AccountPorts['exports']
): AsyncGenerator<string> {
  const { db } = ctx
  const preferences = await db
    .select({ key: userPreferences.key, value: userPreferences.value })
    .from(userPreferences)
    .where(eq(userPreferences.userId, user.id))
    .orderBy(asc(userPreferences.key))
  const own = {
    exported_at: iso(ctx.now()),
    profile: profileOf(user),
    sessions: await listSessions(ctx, by),
    api_keys: await listApiKeys(db, user.id),
    second_factors: await exportSecondFactors(db, user.id),
    preferences,
    mail_choices: await readChoices(db, user.email)
  }
  const recipient = await recipientOf(db, user)
  yield JSON.stringify(own).slice(0, -1)
  for (const [name, read] of Object.entries<DataExport>({
    ...exports,
    logins: (on, { id }) => exportLogins(on, id),
    mails: on => exportMails(on, recipient)
  })) {
    yield `,${JSON.stringify(name)}:[`
    let separator = ''
    for await (const rows of read(db, user)) {
      for (const row of rows) {
        yield `${separator}${JSON.stringify(row)}`
        separator = ','
      }
    }
    yield ']'
  }
  yield '}\n'
}

const profileOf = (user: UserRow) => ({
  username: user.username,
  email: user.email,
  language: user.language,
  discord_id: user.discordId,
  discord_name: user.discordName,
  coins: user.coins,
  level_points: user.levelPoints,
  invite_code: user.inviteCode,
  invite_count: user.inviteCount,
  created_at: iso(user.createdAt),
  last_login: isoOrNull(user.lastLogin),
  last_login_ip: user.lastLoginIp,
  last_location: user.lastLocation
})
