import { useRef, useState } from 'react'
import { address, ApiError, call, type Endpoint, type Input, unwrap } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { t, useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { ask } from '../../kit/confirm.ts'
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

/** Lets a question ask what to tell the customer of the order, or the customers of several. */
export function toTell(t: T, question: Question, customers: 'one' | 'many' = 'one'): Question {
  const of = customers === 'one' ? 'orders' : 'servers'
  return { ...question, note: { message: t(`${of}.message`), hint: t('note.hint'), email: t(`${of}.email_customer`) } }
}

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
  const note = question ? await ask(question) : {}
  if (!note) return null
  let reply: unknown
  try {
    reply = await (call as (route: Endpoint, input: unknown) => Promise<unknown>)(route, withBody(input, note))
  } catch (error) {
    notify('bad', failureText(error, failure))
    // A refusal often means that the screen is out of date.
    void refresh(...invalidate)
    return null
  }
  showDone(typeof success === 'function' ? success(reply) : success, { undo: undo?.(reply), what, invalidate })
  await refresh(...invalidate)
  return { reply }
}

/** Adds to the body of a call, which may have none. */
const withBody = (input: unknown, more: object): unknown =>
  Object.keys(more).length === 0
    ? input
    : { ...(input as object), body: { ...(input as { body?: object }).body, ...more } }

type Done = { undo: Undo | undefined; what: string | undefined; invalidate: readonly Endpoint[] }

/** Reports an action. If it can be undone, the message names the object. */
export function showDone(success: string | undefined, { undo, what, invalidate }: Done): void {
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

/** Milliseconds. A large export takes a while. */
const TIMEOUT = 30_000

/** A timestamp for file names: '20260615-080000'. */
export const stamp = (now: Date): string => now.toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')

/** Fetches a CSV. @throws ApiError if the answer is not CSV */
export async function fetchCsv(route: Endpoint, { query, body }: { query?: object; body?: object }): Promise<Blob> {
  let response: Response
  try {
    response = await fetch(address(route.path, {}, query), {
      method: route.method,
      credentials: 'same-origin',
      ...(body ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(TIMEOUT)
    })
  } catch (error) {
    throw new ApiError(error instanceof DOMException && error.name === 'TimeoutError' ? 'timeout' : 'network', '')
  }
  if (response.ok && response.headers.get('content-type')?.includes('csv')) return response.blob()
  unwrap(response.status, await response.text())
  throw new ApiError('format', '', response.status)
}

/**
 * Lets the browser download a CSV of any length, with its own progress and without our timeout. We first request one
 * row, because the browser would not show why the server refuses.
 */
export async function download(name: string, route: Endpoint, query: Record<string, string>): Promise<void> {
  await fetchFirst(route, query)
  follow(name, address(route.path, {}, query))
}

const fetchFirst = (route: Endpoint, { format: _csv, ...query }: Record<string, string>) =>
  (call as (route: Endpoint, input: object) => Promise<unknown>)(route, { query: { ...query, limit: 1 } })

export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content)
  follow(name, url)
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

function follow(name: string, url: string): void {
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
}
