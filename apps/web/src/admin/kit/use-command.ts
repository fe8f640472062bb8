import { useRef, useState } from 'react'
import { call, type Endpoint, type Input } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { t, useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { notify } from '../../kit/notify.ts'
import type { Question, T } from './resource.ts'
import { offerUndo, type Undo } from './undo.ts'

export type CommandOptions = {
  /** Asked with YES and NO before; NO changes nothing. */
  confirm?: Question | undefined
  /** What is said when it is done. */
  success?: string
  /** What is said where it failed and the server gave no words. */
  failure?: string
  /** The calls whose answers are other ones afterwards. */
  invalidate?: readonly Endpoint[]
  /** What takes it back exactly, of the call's answer; nothing where that cannot be done. */
  undo?: (reply: unknown) => Undo | undefined
  /** What it was done to, as a message that offers Undo names it. */
  what?: string
}

/** The words of every deletion; of many rows with their number. */
export const deletion = (t: T, count?: string): Question => ({
  title: t('list.deleteTitle'),
  body: count === undefined ? t('list.deleteBody') : `${t('list.deleteBody')}\n${t('list.selected', { count })}`,
  danger: true
})

/**
 * Asks, makes one call that changes something, says what came of it and has what it changed read again.
 * @returns whether it was done: false after NO and after a failure, which has been shown then
 */
export async function perform(route: Endpoint, input: unknown, options: CommandOptions): Promise<boolean> {
  return (await performed(route, input, options)) !== null
}

/** The same. @returns the call's answer; null where it was not done */
export async function performed(
  route: Endpoint,
  input: unknown,
  { confirm: question, success, failure, invalidate = [], undo, what }: CommandOptions
): Promise<{ reply: unknown } | null> {
  if (question && !(await confirm(question))) return null
  let reply: unknown
  try {
    reply = await (call as (route: Endpoint, input: unknown) => Promise<unknown>)(route, input)
  } catch (error) {
    notify('bad', failureText(error, failure))
    // What was refused is often refused because the screen is behind.
    void refresh(...invalidate)
    return null
  }
  sayDone(success, { undo: undo?.(reply), what, invalidate })
  await refresh(...invalidate)
  return { reply }
}

type Done = { undo: Undo | undefined; what: string | undefined; invalidate: readonly Endpoint[] }

/** Says that something was done, to what where it can be taken back. */
export function sayDone(success: string | undefined, { undo, what, invalidate }: Done): void {
  const words = success ?? t('list.done')
  if (undo) offerUndo({ done: words, what, changed: invalidate }, undo)
  else notify('good', words)
}

/** `perform` as a component's own command; `running` while the call is out, and until then a second one does nothing. */
export function useCommand<E extends Endpoint>(route: E, options: CommandOptions = {}) {
  useT()
  const [running, setRunning] = useState(false)
  const out = useRef(false)
  const run = async (input: Input<E>): Promise<boolean> => {
    if (out.current) return false
    out.current = true
    setRunning(true)
    try {
      return await perform(route, input, options)
    } finally {
      out.current = false
      setRunning(false)
    }
  }
  return { run, running }
}
