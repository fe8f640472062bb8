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
  /** The question before the call; NO changes nothing. */
  confirm?: Question | undefined
  /** The message after success. */
  success?: string | ((reply: unknown) => string | undefined)
  /** The message after a failure without words from the server. */
  failure?: string
  /** The calls to refetch afterwards. */
  invalidate?: readonly Endpoint[]
  /** The exact reversal, from the call's answer; undefined if there is none. */
  undo?: (reply: unknown) => Undo | undefined
  /** The object's name in a message that offers Undo. */
  what?: string
}

/** The question before a deletion, with the number of rows if there are many. */
export const deletion = (t: T, count?: string): Question => ({
  title: t('list.deleteTitle'),
  body: count === undefined ? t('list.deleteBody') : `${t('list.deleteBody')}\n${t('list.selected', { count })}`,
  danger: true
})

/**
 * Asks, makes one call, reports the result and refetches what changed.
 * @returns whether it was done; false after NO and after a failure that has been shown
 */
export async function perform(route: Endpoint, input: unknown, options: CommandOptions): Promise<boolean> {
  return (await performed(route, input, options)) !== null
}

/** Like `perform`. @returns the call's answer; null if it was not done */
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
    // A refusal often means that the screen is out of date.
    void refresh(...invalidate)
    return null
  }
  sayDone(typeof success === 'function' ? success(reply) : success, { undo: undo?.(reply), what, invalidate })
  await refresh(...invalidate)
  return { reply }
}

type Done = { undo: Undo | undefined; what: string | undefined; invalidate: readonly Endpoint[] }

/** Reports an action. If it can be undone, the message names the object. */
export function sayDone(success: string | undefined, { undo, what, invalidate }: Done): void {
  const words = success ?? t('list.done')
  if (undo) offerUndo({ done: words, what, changed: invalidate }, undo)
  else notify('good', words)
}

/** `perform` as a hook. `running` while the call is in flight; a second call is then ignored. */
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
