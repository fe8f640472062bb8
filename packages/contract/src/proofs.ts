/** What the console found when it tried a proxy itself: after a lease ended, and before one is handed over. */
import { z } from 'zod'
import { route } from './route.ts'
import { Id, IdParams, Time } from './shapes.ts'

/** `revocation`: the old credentials are tried after their end. `hand_over`: the new ones, before the order shows as delivered. */
export const PROOF_KINDS = ['revocation', 'hand_over'] as const
export type ProofKind = (typeof PROOF_KINDS)[number]

/**
 * `waiting`: still to be tried. `proved`: as it should be. `failed`: an alarm, until it is `mended` or somebody takes notice of
 * it. `not_proved`: nobody could tell.
 */
export const PROOF_STATES = ['waiting', 'proved', 'failed', 'mended', 'not_proved'] as const
export type ProofState = (typeof PROOF_STATES)[number]

/** What came to an end, or began. */
export const PROOF_CAUSES = ['removed', 'password', 'addresses', 'grace_ended', 'served'] as const
export type ProofCause = (typeof PROOF_CAUSES)[number]

/**
 * What one try came to. `refused`, `accepted`: what the proxy said to the credentials. `own_address`, `other_address`: from where
 * the check site saw the request come. All others say why nobody can tell: the proxy does not answer, has had too many wrong
 * passwords, does not reach the check site, does not let this user there, reaches one that does not see who asks, lets listed clients in only, there was no time
 * or no check site, the user is wanted again, or ended meanwhile, or the server was given up.
 */
export const PROOF_ANSWERS = [
  'refused',
  'accepted',
  'own_address',
  'other_address',
  'silent',
  'too_many',
  'site_unreached',
  'denied',
  'site_blind',
  'listed_only',
  'no_time',
  'no_site',
  'wanted_again',
  'ended',
  'given_up'
] as const
export type ProofAnswer = (typeof PROOF_ANSWERS)[number]

export const ProofTry = z.object({
  at: Time,
  /** Null: none was dialled. */
  address: z.string().nullable(),
  answer: z.enum(PROOF_ANSWERS),
  /** Milliseconds. */
  took: z.number().nullable(),
  /** From where the check site saw the request come. */
  seen: z.string().nullable()
})
export type ProofTry = z.infer<typeof ProofTry>

export const AccessProof = z.object({
  id: z.number(),
  kind: z.enum(PROOF_KINDS),
  cause: z.enum(PROOF_CAUSES),
  state: z.enum(PROOF_STATES),
  order_id: z.number(),
  server_id: z.number(),
  server: z.string(),
  /** The addresses that it stands for. */
  prefixes: z.array(z.string()),
  /** The last tries, the newest first. */
  tries: z.array(ProofTry),
  asked_at: Time,
  settled_at: Time.nullable(),
  acknowledged_at: Time.nullable(),
  acknowledged_by: z.string().nullable()
})
export type AccessProof = z.infer<typeof AccessProof>

/** Of a lease that ended: whether its credentials were seen refused. Null: nothing was tried. */
export const LeaseProof = z.object({ state: z.enum(PROOF_STATES), answer: z.enum(PROOF_ANSWERS).nullable(), at: Time })
export type LeaseProof = z.infer<typeof LeaseProof>

/** Asked through a proxy, it tells from where; what it says is signed, so that a proxy cannot answer in its place. */
export const SEEN_FROM_PATH = '/api/servers/seen_from/'

export const proofRoutes = {
  proofs: route('GET', '/api/servers/proofs/', {
    summary: 'Alarms of tried credentials: the newest 100 that wait for somebody, or all tries of a server or an order',
    access: 'admin',
    permission: 'addresses.view',
    query: z.object({ server_id: Id.optional(), order_id: Id.optional() }),
    reply: z.object({ proofs: z.array(AccessProof) })
  }),
  acknowledgeProof: route('POST', '/api/servers/proofs/:id/acknowledge/', {
    summary: 'Take notice of credentials that were not as they should be: addresses that were held back are sold again',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: z.object({}).optional(),
    reply: AccessProof
  }),
  seenFrom: route('GET', SEEN_FROM_PATH, {
    summary:
      'From which address this call came, signed: the check site that is asked through a proxy before it is handed over',
    access: 'public',
    query: z.object({ mark: z.string().regex(/^[0-9a-f]{32}$/) }),
    reply: z.object({ address: z.string(), signature: z.string() })
  })
}
