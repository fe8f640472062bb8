import { ApiError, call, type Endpoint } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { t } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { notify, notifyWith } from '../../kit/notify.ts'
import { registerPaletteActions } from '../../kit/palette.ts'

/**
 * The call that exactly reverts another one. The server checks the same permission, checks by version or expected state
 * that the row has not changed since, and writes to the audit log.
 */
export type Undo = { route: Endpoint; input: object }

/**
 * Reverts a change of state, unless the state has changed since, even there and back.
 * @param reply of the call to revert; `changes` counts the changes of state
 */
export function stateBack({ id }: { id: number }, reply: unknown, to: { route: Endpoint; expected: string }) {
  const { changes } = reply as { changes: number | null }
  // It already had this state, so there is nothing to revert.
  if (changes === null) return undefined
  return { route: to.route, input: { params: { id }, body: { expected: to.expected, changes } } }
}

let offered = 0

/** Reports an action and offers Undo, in the message and in the command palette. */
export function offerUndo(
  { done, what, changed }: { done: string; what: string | undefined; changed: readonly Endpoint[] },
  { route, input }: Undo
): void {
  const undo = async () => {
    try {
      await (call as (route: Endpoint, input: unknown) => Promise<unknown>)(route, input)
      notify('good', t('list.undone'))
    } catch (error) {
      // The row has changed since, so it can no longer be reverted.
      const late = error instanceof ApiError && error.refusal.reason === 'stale'
      notify('bad', late ? t('list.undoGone') : t('list.notUndone', { why: failureText(error) }))
    }
    await refresh(...changed)
  }
  const id = `undo.${(offered += 1)}`
  const withdraw = registerPaletteActions({
    id,
    title: () => t('list.undo'),
    actions: () => [{ id, label: t('list.undoOf', { what: what ? `${done} (${what})` : done }), run: act }]
  })
  let taken = false
  function act(): void {
    if (taken) return
    taken = true
    withdraw()
    void undo()
  }
  notifyWith('good', done, { label: t('list.undo'), about: what, run: act, onGone: withdraw })
}
