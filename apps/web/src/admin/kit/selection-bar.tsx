import { Button, Loader, Menu } from '@mantine/core'
import { IconChevronDown, IconStack2 } from '@tabler/icons-react'
import { useRef, useState } from 'react'
import { useSearchParams } from 'react-router'
import type { BulkAction, BulkPlan, RunAction } from '@netlet/contract'
import { RUN_PERMISSIONS } from '@netlet/contract/permissions'
import { ApiError, call } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { bulk } from '../../api/routes.ts'
import { type Key, useT } from '../../i18n/admin.ts'
import { failureText, wordsOf } from '../../i18n/failures.ts'
import { ask } from '../../kit/confirm.ts'
import { formMessage } from '../../kit/form.ts'
import { notify } from '../../kit/notify.ts'
import { numberText } from '../../kit/money.ts'
import classes from './kit.module.css'
import type { Batch, Question, Resource, Row, Selected, T } from './resource.ts'
import { countText } from './words.tsx'
import en from '../../i18n/admin.en.json'

/** Dangerous batches on more rows than this ask the operator to type the number. */
const RISKY_ROWS = 10

/** A question about many rows. If it is dangerous, YES needs the number typed. */
export const risky = (question: Question, rows: number): Question =>
  question.danger ? ofMany(question, rows) : question

/** The same for harmless actions that reach many customers, to prevent a slip. */
export const ofMany = (question: Question, rows: number): Question =>
  rows > RISKY_ROWS ? { ...question, typed: rows } : question

const sum = (all: readonly { rows: number }[]) => all.reduce((rows, one) => rows + one.rows, 0)

/** How many rows would be refused now, and why. */
function refusalText(t: T, { reason, rows }: { reason: string; rows: number }): string {
  const key = `bulkPlan.because.${reason}`
  const count = numberText(rows)
  return key in en ? t(key as Key, { count }) : t('bulkPlan.other', { count, reason: wordsOf(reason) ?? reason })
}

/** What a batch would do and refuse, as lines for its confirmation. */
function outcomeLines(t: T, action: BulkAction, { rows, outcomes }: BulkPlan): string[] {
  if (!outcomes) return [t('bulkPlan.unknown')]
  const { effects, refusals } = outcomes
  const told = effects.filter(({ effect }) => effect !== 'done')
  const list = (entries: string[]) => entries.map(entry => `– ${entry}`)
  return [
    t(`bulkPlan.will.${action}` as Key, { count: numberText(sum(effects)), total: numberText(rows) }),
    ...list(told.map(({ effect, rows }) => t(`bulkPlan.effect.${effect}` as Key, { count: numberText(rows) }))),
    ...(refusals.length === 0 ? [] : [t('bulkPlan.refused', { count: numberText(sum(refusals)) })]),
    ...list(refusals.map(refusal => refusalText(t, refusal)))
  ]
}

type Props<R extends Row> = {
  resource: Resource<R>
  /** The number of matching rows, as far as counted; undefined while loading. */
  total: number | undefined
  exact: boolean
  ids: number[]
  all: boolean
  onAll: () => void
  onClear: () => void
  selected: () => Selected
  /** Called when a bulk run has started. */
  onRun: (id: number) => void
}

/** The number of matching or selected rows, and the batch actions. */
export function SelectionBar<R extends Row>({
  resource,
  total,
  exact,
  ids,
  all,
  onAll,
  onClear,
  selected,
  onRun
}: Props<R>) {
  const t = useT()
  const count = all ? countText(total ?? 0, exact) : numberText(ids.length)
  const some = all || ids.length > 0
  const { busy, start } = useBatch(resource, { some, rows: all ? (total ?? 0) : ids.length, selected, onRun })
  const { may, mayCall } = useMay()
  const offered = (resource.batch ?? []).filter(action =>
    'run' in action ? !action.needs || mayCall(action.needs) : may(RUN_PERMISSIONS[action.name as RunAction])
  )
  const batch = useRef<HTMLButtonElement>(null)
  /** The pressed button disappears, so move the focus to the batch actions. */
  const select = (change: () => void) => () => {
    change()
    batch.current?.focus()
  }
  return (
    <div className="row size-body" style={{ gap: '0.25rem 0.75rem', minHeight: '2rem' }}>
      <span className="num" role="status">
        {some
          ? t('list.selected', { count })
          : total !== undefined && t('list.total', { count: countText(total, exact) })}
      </span>
      {some && !all && total !== undefined && total > ids.length && (
        <Button size="compact-sm" variant="subtle" onClick={select(onAll)}>
          {t('list.selectAll', { count: countText(total, exact) })}
        </Button>
      )}
      {some && (
        <Button size="compact-sm" variant="subtle" color="gray" onClick={select(onClear)}>
          {t('list.clear')}
        </Button>
      )}
      {offered.length > 0 && (
        <Menu
          position="bottom-end"
          withInitialFocusPlaceholder={false}
          shadow="md"
          width={220}
          middlewares={{ size: { padding: 8 } }}
        >
          <Menu.Target>
            <Button
              size="compact-sm"
              variant="default"
              ml="auto"
              ref={batch}
              aria-busy={busy}
              leftSection={busy ? <Loader size={14} color="gray" aria-hidden /> : <IconStack2 size={16} aria-hidden />}
              rightSection={<IconChevronDown size={14} aria-hidden />}
            >
              {t('list.batch')}
            </Button>
          </Menu.Target>
          <Menu.Dropdown className={classes.menu}>
            {offered.map(action => (
              <Menu.Item
                key={action.name}
                leftSection={<action.icon size={16} aria-hidden />}
                style={action.danger ? { color: 'var(--nl-bad)' } : undefined}
                onClick={() => void start(action)}
              >
                {t(`bulk.${action.name}` as Key)}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </div>
  )
}

/** Include the order, because it can determine which rows match. */
const rowsOf = (selected: Selected) =>
  'ids' in selected ? selected : { query: { ...selected.query, ...selected.sort }, expected: selected.expected }

const isOtherMatch = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.refusal.reason === 'bulk_other_match'

type BatchState = { some: boolean; rows: number; selected: () => Selected; onRun: (id: number) => void }

/** Starts a batch action after its question. */
function useBatch<R extends Row>(resource: Resource<R>, { some, rows, selected, onRun }: BatchState) {
  const t = useT()
  const [busy, setBusy] = useState(false)
  const [, setAddress] = useSearchParams()
  const open = (params: Record<string, string>) =>
    setAddress(present => ({ ...Object.fromEntries(present), ...params }))
  /** `other`: the refusal because other rows match now. Ask again. */
  const work = async (action: Batch, other?: ApiError): Promise<void> => {
    if ('run' in action) return void (await action.run(selected(), open))
    let selection = rowsOf(selected())
    let note: Awaited<ReturnType<typeof ask>> = {}
    if (action.confirm) {
      // For "all that match", the plan gives the exact number and version of the rows.
      const planned = action.planned || 'query' in selection
      const plan = planned ? await call(bulk.plan, { body: { action: action.name, selection } }) : null
      const count = plan?.rows ?? rows
      const question = action.confirm(t, numberText(count))
      const lines = plan && action.planned ? outcomeLines(t, action.name, plan) : []
      const body = [...(other ? [failureText(other)] : []), question.body, ...lines].join('\n')
      // Delivering in spite of a missing payment cannot be undone.
      const danger = question.danger || plan?.outcomes?.effects.some(({ effect }) => effect === 'unsettled') || false
      const blocked =
        action.planned === true && plan?.outcomes?.effects.length === 0 && plan.outcomes.refusals.length > 0
      note = await ask(risky({ ...question, body, danger, blocked }, count))
      if (!note) return
      if ('query' in selection) selection = { ...selection, expected: count, ...(plan && { version: plan.version }) }
    }
    try {
      onRun((await call(bulk.start, { body: { action: action.name, selection, ...note } })).id)
    } catch (error) {
      if (action.confirm && isOtherMatch(error)) return work(action, error)
      throw error
    }
  }
  const start = async (action: Batch) => {
    if (busy) return
    if (!some) return notify('bad', resource.noneSelected ?? formMessage('must_select'))
    setBusy(true)
    try {
      await work(action)
    } catch (error) {
      notify('bad', failureText(error, action.failure))
    } finally {
      setBusy(false)
    }
  }
  return { busy, start }
}
