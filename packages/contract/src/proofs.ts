/** The console's own tests of proxies: after a lease ends, and before a delivery. */
import { z } from 'zod'
import { route } from './route.ts'
import { Id, IdParams, Time } from './shapes.ts'

/** `revocation`: old credentials after their end. `hand_over`: new ones before the order shows as delivered. */
export const PROOF_KINDS = ['revocation', 'hand_over'] as const
export type ProofKind = (typeof PROOF_KINDS)[number]

/**
 * `waiting`: not tested yet. `proved`: correct. `failed`: an alarm until it is `mended` or acknowledged. `not_proved`:
 * no test was conclusive.
 */
export const PROOF_STATES = ['waiting', 'proved', 'failed', 'mended', 'not_proved'] as const
export type ProofState = (typeof PROOF_STATES)[number]

/** What ended or began. */
export const PROOF_CAUSES = ['removed', 'password', 'addresses', 'grace_ended', 'served'] as const
export type ProofCause = (typeof PROOF_CAUSES)[number]

/**
 * The result of one test. `refused`, `accepted`: the proxy's reply to the credentials. `own_address`, `other_address`:
 * where the check site saw the request come from. All others are inconclusive: the proxy does not answer, locked us out
 * after wrong passwords, does not reach the check site or forbids it, reaches one that does not see the source, admits
 * only listed clients; there was no time or no check site; the user is wanted again or has ended; or the server was
 * given up.
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
  /** Null: no connection was made. */
  address: z.string().nullable(),
  answer: z.enum(PROOF_ANSWERS),
  /** Milliseconds. */
  took: z.number().nullable(),
  /** The source address seen by the check site. */
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
  /** The addresses that it covers. */
  prefixes: z.array(z.string()),
  /** The last tests, newest first. */
  tries: z.array(ProofTry),
  asked_at: Time,
  settled_at: Time.nullable(),
  acknowledged_at: Time.nullable(),
  acknowledged_by: z.string().nullable()
})
export type AccessProof = z.infer<typeof AccessProof>

/** For an ended lease: whether its credentials were seen to be refused. Null: never tested. */
export const LeaseProof = z.object({ state: z.enum(PROOF_STATES), answer: z.enum(PROOF_ANSWERS).nullable(), at: Time })
export type LeaseProof = z.infer<typeof LeaseProof>

/** Reports the source address of a request through a proxy. The reply is signed, so that the proxy cannot forge it. */
export const SEEN_FROM_PATH = '/api/servers/seen_from/'

export const proofRoutes = {
  proofs: route('GET', '/api/servers/proofs/', {
    summary: 'Proxy mismatches: the newest 100 unacknowledged ones, or all checks of a server or an order',
    access: 'admin',
    permission: 'addresses.view',
    query: z.object({ server_id: Id.optional(), order_id: Id.optional() }),
    reply: z.object({ proofs: z.array(AccessProof) })
  }),
  acknowledgeProof: route('POST', '/api/servers/proofs/:id/acknowledge/', {
    summary: 'Acknowledge a proxy mismatch; its held addresses are sold again',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: z.object({}).optional(),
    reply: AccessProof
  }),
  seenFrom: route('GET', SEEN_FROM_PATH, {
    summary: "The caller's address, signed: the check site that tests proxies before delivery",
    access: 'public',
    query: z.object({ mark: z.string().regex(/^[0-9a-f]{32}$/) }),
    reply: z.object({ address: z.string(), signature: z.string() })
  })
}
