import { Button, Loader, Menu } from '@mantine/core'
import { IconChevronDown, IconStack2 } from '@tabler/icons-react'
import { useRef, useState } from 'react'
import { call } from '../../api/client.ts'
import { bulk } from '../../api/routes.ts'
import { useT, type Key } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { formMessage } from '../../kit/form.ts'
import { notify } from '../../kit/notify.ts'
import classes from './kit.module.css'
import type { Batch, Resource, Row, Selected } from './resource.ts'
import { countText } from './words.ts'

type Props<R extends Row> = {
  resource: Resource<R>
  /** How many rows match, as far as they were counted; undefined before that is known. */
  total: number | undefined
  exact: boolean
  ids: number[]
  all: boolean
  onAll: () => void
  onClear: () => void
  selected: () => Selected
  /** A bulk run was started. */
  onRun: (id: number) => void
}

/** How many rows match or are selected, and what can be done with all of these at once. */
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
  const count = all ? countText(total ?? 0, exact) : ids.length.toLocaleString('en-US')
  const some = all || ids.length > 0
  const { busy, start } = useBatch(resource, { some, count, selected, onRun })
  const batch = useRef<HTMLButtonElement>(null)
  /** The button that was pressed goes with what it does: the focus moves on to what the selection is for. */
  const select = (change: () => void) => () => {
    change()
    batch.current?.focus()
  }
  return (
    <div className={classes.selection}>
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
      {resource.batch && (
        <Menu position="bottom-end" withInitialFocusPlaceholder={false} shadow="md" width={220}>
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
          <Menu.Dropdown>
            {resource.batch.map(({ name, icon: Icon, danger }) => (
              <Menu.Item
                key={name}
                leftSection={<Icon size={16} aria-hidden />}
                style={danger ? { color: 'var(--nl-bad)' } : undefined}
                onClick={() => void start(name)}
              >
                {t(`bulk.${name}` as Key)}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </div>
  )
}

type BatchState = { some: boolean; count: string; selected: () => Selected; onRun: (id: number) => void }

/** Starts a batch action by its name. */
function useBatch<R extends Row>(resource: Resource<R>, { some, count, selected, onRun }: BatchState) {
  const t = useT()
  const [busy, setBusy] = useState(false)
  const work = async (action: Batch) => {
    if ('run' in action) return action.run(selected())
    const question = action.confirm?.(t, count)
    if (question && !(await confirm(question))) return
    const run = await call(bulk.start, { body: { action: action.name, selection: selected() } })
    onRun(run.id)
  }
  const start = async (name: string) => {
    const action = resource.batch?.find(one => one.name === name)
    if (!action) return notify('bad', '未知操作类型')
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
