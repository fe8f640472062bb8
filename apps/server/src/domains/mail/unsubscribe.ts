import { OPTIONAL_MAILS, refuse, type OptionalMail } from '@netlet/contract'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { Secrets } from '../../infra/secrets.ts'
import { switchOff } from './choices.ts'

const PURPOSE = 'unsubscribe'

/** The link's token contains the address and the kind. It is sealed, so it cannot be forged or read. */
export const unsubscribeToken = (secrets: Secrets, address: string, kind: OptionalMail): string =>
  secrets.seal(JSON.stringify([PURPOSE, address, kind])).toString('base64url')

/** Switches off the kind in a mail's link. A repeat changes nothing. */
export async function unsubscribe(ctx: AppContext, by: Actor, token: string): Promise<Result<{ kind: OptionalMail }>> {
  const named = openToken(ctx.secrets, token)
  if (!named) return refuse('wrong_unsubscribe_token')
  return command(ctx, by, async unit => {
    await switchOff(unit, named.address, named.kind)
    return ok({ kind: named.kind })
  })
}

function openToken(secrets: Secrets, token: string): { address: string; kind: OptionalMail } | null {
  try {
    const [purpose, address, kind] = JSON.parse(secrets.open(Buffer.from(token, 'base64url'))) as unknown[]
    const known = OPTIONAL_MAILS.find(one => one === kind)
    return purpose === PURPOSE && typeof address === 'string' && known ? { address, kind: known } : null
  } catch {
    return null
  }
}
