import { refuse } from '@netlet/contract'
import type { Caller } from './mount.ts'

/** An administrator who looks through a user's eyes is a guest there: what outlasts the visit is not theirs to make. */
export const whileVisiting = (caller: Caller) =>
  caller.impersonatorId === null
    ? null
    : refuse('forbidden', { msg: "Not while you are viewing another user's account" })
