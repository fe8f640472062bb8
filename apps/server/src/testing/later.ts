import type { Clock } from '../infra/clock.ts'

/** When so many milliseconds will have passed for the shop. */
export const fromNow = ({ now }: { now: Clock }, milliseconds: number): Date => new Date(now().getTime() + milliseconds)

/** The same context, later. */
export const later = <C extends { now: Clock }>(ctx: C, milliseconds: number): C => ({
  ...ctx,
  now: () => fromNow(ctx, milliseconds)
})
