import type { Clock } from '../infra/clock.ts'

/** The shop's time in so many milliseconds. */
export const fromNow = ({ now }: { now: Clock }, milliseconds: number): Date => new Date(now().getTime() + milliseconds)

export const later = <C extends { now: Clock }>(ctx: C, milliseconds: number): C => ({
  ...ctx,
  now: () => fromNow(ctx, milliseconds)
})
