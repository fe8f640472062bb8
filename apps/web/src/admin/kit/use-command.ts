import { useRef, useState } from 'react'
import { call, type Endpoint, type Input } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { t, useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { notify } from '../../kit/notify.ts'
import type { Question, T } from './resource.ts'

export type CommandOptions = {
  /** Asked with YES and NO before; NO changes nothing. */
  confirm?: Question | undefined
  /** What is said when it is done. */
  success?: string
  /** What is said where it failed and the server gave no words. */
  failure?: string
  /** The calls whose answers are other ones afterwards. */
  invalidate?: readonly Endpoint[]
}

/** The words of every deletion. */
export const deletion = (t: T): Question => ({
  title: t('list.deleteTitle'),
  body: t('list.deleteBody'),
  danger: true
})

/**
 * Asks, makes one call that changes something, says what came of it and has what it changed read again.
 * @returns whether it was done: false after NO and after a failure, which has been shown then
 */
export async function perform(
  route: Endpoint,
  input: unknown,
  { confirm: question, success, failure, invalidate = [] }: CommandOptions
): Promise<boolean> {
  if (question && !(await confirm(question))) return false
  try {
    await (call as (route: Endpoint, input: unknown) => Promise<unknown>)(route, input)
  } catch (error) {
    notify('bad', failureText(error, failure))
    // What was refused is often refused because the screen is behind.
    void refresh(...invalidate)
    return false
  }
  notify('good', success ?? t('list.done'))
  await refresh(...invalidate)
  return true
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
