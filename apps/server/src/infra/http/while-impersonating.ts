import { refuse } from '@netlet/contract'
import type { UserActor } from '../actor.ts'

/** An administrator who views the shop as a user is a guest there: what outlasts the visit is not theirs to make. */
export const refuseWhileImpersonating = (by: UserActor) =>
  by.impersonator === null ? null : refuse('while_impersonating')
