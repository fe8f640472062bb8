import { ApiError, call, type Endpoint } from '../../api/client.ts'
import { refresh } from '../../api/query.ts'
import { t } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { notify, notifyWith } from '../../kit/notify.ts'
import { registerPaletteActions } from '../../kit/palette.ts'

/**
 * The command that takes back exactly what another one did: a call of the server, which takes the same permission, checks
 * by a version or an expected state that nobody changed the row meanwhile, and is written into the audit log.
 */
export type Undo = { route: Endpoint; input: object }

/**
 * Takes a change of state back where nobody has changed it since, there and back included.
 * @param reply of the call that is taken back: `changes` is how often the state was changed by then
 */
export function stateBack({ id }: { id: number }, reply: unknown, to: { route: Endpoint; expected: string }) {
  const { changes } = reply as { changes: number | null }
  // It was so already, by somebody else.
  if (changes === null) return undefined
  return { route: to.route, input: { params: { id }, body: { expected: to.expected, changes } } }
}

let offered = 0

/** Says what was done, and offers to take it back: by a button that stays for a while, and in the command palette. */
export function offerUndo(
  { done, what, changed }: { done: string; what: string | undefined; changed: readonly Endpoint[] },
  { route, input }: Undo
): void {
  const undo = async () => {
    try {
      await (call as (route: Endpoint, input: unknown) => Promise<unknown>)(route, input)
      notify('good', t('list.undone'))
    } catch (error) {
      // A version or a state that is another by now: the way back is closed for good.
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
