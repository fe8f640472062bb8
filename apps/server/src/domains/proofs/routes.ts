import { routes } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { ok } from '../../infra/result.ts'
import { signatureOf } from './dial.ts'
import { acknowledgeProof, listProofs } from './failed-proofs.ts'

export function proofRoutes(mount: Mount, ctx: AppContext): void {
  const { fleet } = routes
  mount(fleet.proofs, async call => ok(await listProofs(ctx.db, call.query)))
  mount(fleet.acknowledgeProof, call => acknowledgeProof(ctx, call.caller, call.params.id))
  mount(fleet.seenFrom, async ({ caller, query: { mark }, reply }) => {
    void reply.header('cache-control', 'no-store')
    return ok({ address: caller.ip, signature: signatureOf(ctx.secrets, { mark, address: caller.ip }) })
  })
}
