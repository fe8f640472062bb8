import { refuse } from '@netlet/contract'
import type { UserActor } from '../actor.ts'

/** An administrator who views the shop as a user may change nothing that outlasts the visit. */
export const refuseWhileImpersonating = (by: UserActor) =>
  by.impersonator === null ? null : refuse('while_impersonating')
