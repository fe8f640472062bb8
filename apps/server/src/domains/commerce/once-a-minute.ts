import { MINUTE } from '../../infra/clock.ts'
import type { AppContext } from '../../infra/context.ts'

type Waiting<T> = { value: T | null; since: number; timer: NodeJS.Timeout }

/**
 * Limits writes that outside requests cause: the first one for a name is immediate, later ones within a minute are
 * merged into one at its end. A failed write is logged and repeated a minute later.
 * @param merge combines two values of one name
 */
export function onceAMinute<T>({
  merge,
  write
}: {
  merge: (before: T, next: T) => T
  write: (ctx: AppContext, value: T) => Promise<void>
}): (ctx: AppContext, name: string, value: T) => Promise<void> {
  const waiting = new WeakMap<AppContext, Map<string, Waiting<T>>>()

  async function note(ctx: AppContext, name: string, value: T): Promise<void> {
    const names = waiting.get(ctx) ?? new Map<string, Waiting<T>>()
    waiting.set(ctx, names)
    const before = names.get(name)
    const now = ctx.now().getTime()
    if (before && now - before.since < MINUTE) {
      before.value = before.value === null ? value : merge(before.value, value)
      return
    }
    clearTimeout(before?.timer)
    const opened: Waiting<T> = { value: null, since: now, timer: setTimeout(() => void end(ctx, name), MINUTE) }
    opened.timer.unref()
    names.set(name, opened)
    const whole = before && before.value !== null ? merge(before.value, value) : value
    try {
      await write(ctx, whole)
    } catch (error) {
      ctx.log.warn({ err: error }, 'what webhooks show could not be written down')
      opened.value = opened.value === null ? whole : merge(whole, opened.value)
    }
  }

  async function end(ctx: AppContext, name: string): Promise<void> {
    const names = waiting.get(ctx)
    const ended = names?.get(name)
    names?.delete(name)
    if (ended && ended.value !== null) await note(ctx, name, ended.value)
  }

  return note
}
